// What the browser calls the page: tabs, history and bookmarks are told apart by it.
import { effect } from '@preact/signals';
import { live } from './live';
import { place } from './route';
import { session } from './session';
import { nameOf } from './sessions';

const PLACES: Record<string, string> = { new: 'New session', agents: 'Agents', tools: 'Tools', personas: 'Personas', operations: 'Operations', memory: 'Memory' };

export function nameThePage() {
  return effect(() => {
    const { name } = place.value;
    const here = name === 'session' ? session.value && nameOf(session.value) : PLACES[name];
    const waits = live.value?.state === 'waiting' && live.value.session === session.value?.id ? '(1) ' : '';
    document.title = here ? `${waits}${here} · Throughline` : 'Throughline';
  });
}
