// What the agent offers, and which of it is in this session: a switch for each.
import type { AgentItem, Conversation, ItemType } from '../api/types';
import { defaultAgent } from '../state/catalogue';
import { addItem, itemsOf, removeItem, sameItem } from '../state/items';
import { attempt } from '../state/notices';
import { refreshSession } from '../state/session';
import { Badge } from './Badge';
import { ItemSuggestions } from './ItemSuggestions';
import { Permissions } from './Permissions';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';

export const ITEM_TYPES: { type: ItemType; label: string }[] = [
  { type: 'rule', label: 'Rules' },
  { type: 'reference', label: 'References' },
  { type: 'tool', label: 'Tools' },
];

export function nameOfItem(item: { type: ItemType; name: string; serverName?: string }): string {
  return item.type === 'tool' ? `${item.serverName}:${item.name}` : item.name;
}

export function ItemsTab({ session }: { session: Conversation }) {
  const agent = session.agent ?? defaultAgent.value;
  const loaded = useLoaded(() => (agent ? itemsOf(agent) : Promise.resolve([])), [agent]);
  if (loaded.state !== 'here') return <Waiting loaded={loaded} />;
  const missing = session.items.filter((item) => !loaded.value.some((known) => sameItem(known, item)));
  return (
    <div class="items">
      <p class="quiet">What is on goes into every request of this session. What is off and says <em>when it fits</em> still goes into a request whose message it matches.</p>
      <Permissions session={session} />
      <ItemSuggestions session={session} />
      {loaded.value.length === 0 && <p class="quiet">This agent has no rules, references or tools.</p>}
      {ITEM_TYPES.map(({ type, label }) => {
        const items = loaded.value.filter((item) => item.type === type);
        return items.length > 0 && (
          <section key={type}>
            <h2>{label} <span class="of">({items.length})</span></h2>
            <ul>{items.map((item) => <li key={nameOfItem(item)}><ItemSwitch session={session} item={item} /></li>)}</ul>
          </section>
        );
      })}
      {missing.length > 0 && (
        <section>
          <h2>No longer offered <span class="of">({missing.length})</span></h2>
          <ul>{missing.map((item) => (
            <li key={nameOfItem(item)} class="item"><span>{nameOfItem(item)}</span>
              <button class="button small" onClick={() => attempt(async () => { await removeItem(session.id, item); await refreshSession(); })}>Remove</button></li>
          ))}</ul>
        </section>
      )}
    </div>
  );
}

function ItemSwitch({ session, item }: { session: Conversation; item: AgentItem }) {
  const present = session.items.find((known) => sameItem(known, item));
  const toggle = () => attempt(async () => {
    if (present) await removeItem(session.id, item);
    else await addItem(session.id, item);
    await refreshSession();
  });
  return (
    <label class="item">
      <input type="checkbox" role="switch" checked={present !== undefined} onChange={toggle} disabled={!session.active} />
      <span class="item-words">
        <span class="item-name">{nameOfItem(item)} <Badge mode={present?.includeMode ?? item.include} /></span>
        <span class="item-about">{item.description}</span>
        {item.refused && <span class="warning">May not run: {item.refused}</span>}
      </span>
    </label>
  );
}
