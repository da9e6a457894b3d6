// Which things of the conversation the ids in a call's arguments mean.
import { at, get } from '../api/client';
import type { Entity } from '../api/types';
import type { LiveCall } from '../state/live';
import { foundBy, namesIn } from '../text/names';
import { useLoaded } from './useLoaded';

export function KnownNames({ session, call, calls }: { session: string; call: LiveCall; calls: LiveCall[] }) {
  const loaded = useLoaded(async () => (await get<{ entities: Entity[] }>(at('conversations', session, 'entities'))).entities, [session]);
  const known = loaded.state === 'here' ? loaded.value : [];
  const names = namesIn(call.arguments, [...known, ...foundBy(calls)]);
  if (names.length === 0) return null;
  return <ul class="known-names">{names.map(({ argument, id, type, name }) => <li key={argument}><code>{argument}: {id}</code> is the {type} <strong>{name}</strong></li>)}</ul>;
}
