// The agents and everything each makes available, with its include mode.
import { useSignal } from '@preact/signals';
import type { AgentItem } from '../api/types';
import { agents, defaultAgent } from '../state/catalogue';
import { itemsOf } from '../state/items';
import { pretty } from '../text/json';
import { Badge } from './Badge';
import { ITEM_TYPES, nameOfItem } from './ItemsTab';
import { Page } from './Page';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';

export function AgentsPage() {
  const chosen = useSignal<string | null>(null);
  const name = chosen.value ?? agents.value.find((agent) => agent.name !== defaultAgent.value)?.name ?? defaultAgent.value;
  const agent = agents.value.find((known) => known.name === name);
  return (
    <Page title="Agents" lead="What a conversation can draw on. Always items are in every new session, manual ones are added by hand, agent ones are chosen for a message that they match.">
      <div class="segmented" role="group" aria-label="Agent">
        {agents.value.map((known) => (
          <button key={known.name} aria-pressed={known.name === name} onClick={() => (chosen.value = known.name)}>{known.name}{known.name === defaultAgent.value ? ' (default)' : ''}</button>
        ))}
      </div>
      {agent && <><p>{agent.description}</p><AgentItems key={agent.name} agent={agent.name} /></>}
    </Page>
  );
}

function AgentItems({ agent }: { agent: string }) {
  const loaded = useLoaded(() => itemsOf(agent), [agent]);
  if (loaded.state !== 'here') return <Waiting loaded={loaded} />;
  if (loaded.value.length === 0) return <p class="quiet">It has no rules, references or tools. They are defined in throughline.toml.</p>;
  return (
    <>
      {ITEM_TYPES.map(({ type, label }) => {
        const items = loaded.value.filter((item) => item.type === type);
        return items.length > 0 && (
          <section key={type} class="card">
            <h2>{label} <span class="of">({items.length})</span></h2>
            <ul class="rows">{items.map((item) => <li key={nameOfItem(item)}><ItemRow item={item} /></li>)}</ul>
          </section>
        );
      })}
    </>
  );
}

function ItemRow({ item }: { item: AgentItem }) {
  return (
    <details class="item-row">
      <summary><span class="item-name">{nameOfItem(item)}</span> <Badge mode={item.include} /><span class="item-about">{item.description}</span></summary>
      {item.refused && <p class="warning">May not run: {item.refused}</p>}
      <pre tabIndex={0}>{pretty(item.text)}</pre>
    </details>
  );
}
