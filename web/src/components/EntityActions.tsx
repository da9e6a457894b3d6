// Putting right what was understood, or forgetting a thing.
import { useSignal } from '@preact/signals';
import { at, change } from '../api/client';
import type { Entity } from '../api/types';
import { entitiesChanged } from '../state/entities';
import { attempt, tell } from '../state/notices';
import { labelOf } from './EntityGraph';

const thing = ({ type, name, id }: Entity) => ({ type, ...(name ? { name } : {}), ...(id ? { id } : {}) });

export interface EntityActionsProps {
  session: string;
  entity: Entity;
  others: Entity[];
}

export function EntityActions({ session, entity, others }: EntityActionsProps) {
  const correcting = useSignal(false);
  const correct = (right: Entity) => attempt(async () => {
    await change('POST', at('conversations', session, 'entities', 'correction'), { wrong: thing(entity), right: thing(right) });
    entitiesChanged.value += 1;
    tell(`The next message starts from ${labelOf(right)}.`);
  });
  const forget = () => attempt(async () => {
    await change('DELETE', at('conversations', session, 'entities', entity.type, labelOf(entity)));
    entitiesChanged.value += 1;
    tell(`${labelOf(entity)} is forgotten in this session.`);
  });
  // Things of the same type are what was most likely meant.
  const offered = [...others].sort((one, two) => Number(two.type === entity.type) - Number(one.type === entity.type));
  return (
    <div class="actions start">
      {correcting.value
        ? (
          <label class="field inline"><span>I meant</span>
            <select value="" onChange={(event) => {
              const right = offered[Number(event.currentTarget.value)];
              correcting.value = false;
              if (right) void correct(right);
            }}>
              <option value="">choose…</option>
              {offered.map((other, index) => <option key={index} value={index}>{other.type.replaceAll('_', ' ')} {labelOf(other)}</option>)}
            </select>
          </label>
        )
        : offered.length > 0 && <button class="button small" onClick={() => (correcting.value = true)}>I meant another</button>}
      <button class="button small danger-text" onClick={forget}>Forget</button>
    </div>
  );
}
