// Putting an entity right, or forgetting it.
import { useSignal } from '@preact/signals';
import { at, change } from '../api/client';
import type { Entity } from '../api/types';
import { entitiesChanged } from '../state/entities';
import { attempt, tell } from '../state/notices';
import { labelOf } from './EntityGraph';

export function EntityActions({ session, entity }: { session: string; entity: Entity }) {
  const renaming = useSignal<string | null>(null);
  const path = at('conversations', session, 'entities', entity.type, labelOf(entity));
  const correct = (name: string) => attempt(async () => {
    await change('PATCH', path, { name });
    entitiesChanged.value += 1;
    tell('Corrected.');
  });
  const forget = () => attempt(async () => {
    await change('DELETE', path);
    entitiesChanged.value += 1;
    tell(`${labelOf(entity)} is forgotten in this session.`);
  });
  if (renaming.value !== null) {
    return (
      <form class="field inline" onSubmit={(event) => { event.preventDefault(); void correct(renaming.value!.trim()); renaming.value = null; }}>
        <label><span class="hidden">Right name</span><input value={renaming.value} onInput={(event) => (renaming.value = event.currentTarget.value)} /></label>
        <button class="button small primary" disabled={!renaming.value.trim()}>Correct</button>
        <button type="button" class="button small" onClick={() => (renaming.value = null)}>Cancel</button>
      </form>
    );
  }
  return (
    <div class="actions start">
      <button class="button small" onClick={() => (renaming.value = labelOf(entity))}>Correct the name</button>
      <button class="button small danger-text" onClick={forget}>Forget</button>
    </div>
  );
}
