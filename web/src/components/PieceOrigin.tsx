// Where a piece from outside the conversation was said: a link to the turn of the other conversation, or of the memory.
import type { Source } from '../api/types';
import { memory } from '../state/memories';
import { addressOf } from '../state/route';
import { titleOf } from '../state/sessions';
import { useLoaded } from './useLoaded';

export function PieceOrigin({ source }: { source: Source }) {
  if (source.kind === 'elsewhere') return <TurnLink session={source.session} turn={source.turn} />;
  if (source.kind === 'fact') return <MemoryOrigin id={source.id} />;
  return null;
}

function TurnLink({ session, turn }: { session: string; turn: number }) {
  const title = useLoaded(() => titleOf(session), [session]);
  const name = title.state === 'here' ? `“${title.value}”` : 'that conversation';
  return <p class="quiet">Said in <a href={addressOf(session, turn)}>turn {turn} of {name}</a>.</p>;
}

function MemoryOrigin({ id }: { id: string }) {
  const known = useLoaded(() => memory(id), [id]);
  if (known.state !== 'here') return null;
  const { source } = known.value;
  return (
    <>
      {source?.session && <TurnLink session={source.session} turn={source.turn} />}
      <p class="quiet">Correct or forget it on the <a href="#/memory">Memory page</a>.</p>
    </>
  );
}
