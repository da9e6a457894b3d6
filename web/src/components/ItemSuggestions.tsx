// What would make a session's sources better, each with one click.
import type { Conversation, ItemName } from '../api/types';
import { attempt, tell } from '../state/notices';
import { refreshSession } from '../state/session';
import { suggestionsFor } from '../state/suggestions';
import { nameOfItem } from './ItemsTab';
import { useLoaded } from './useLoaded';

export function ItemSuggestions({ session }: { session: Conversation }) {
  const loaded = useLoaded(() => suggestionsFor(session), [session.id, session.version]);
  if (loaded.state !== 'here' || loaded.value.length === 0 || !session.active) return null;
  return (
    <section class="suggestions">
      <h2>Suggestions <span class="of">({loaded.value.length})</span></h2>
      <ul>
        {loaded.value.map((suggestion) => (
          <li key={`${suggestion.label} ${suggestion.items.map(nameOfItem).join()}`} class="item">
            <span class="item-words"><Names items={suggestion.items} /><span class="item-about">{suggestion.why}</span></span>
            <button class="button small" onClick={() => attempt(async () => {
              await suggestion.apply();
              await refreshSession();
              tell(`${suggestion.done} It holds from the next message on.`, async () => {
                await suggestion.undo();
                await refreshSession();
              });
            })}>{suggestion.label}</button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Names({ items }: { items: ItemName[] }) {
  if (items.length === 1) return <span class="item-name">{nameOfItem(items[0]!)}</span>;
  return <details><summary class="item-name">{items.length} tools</summary><span class="item-about">{items.map(nameOfItem).join(', ')}</span></details>;
}
