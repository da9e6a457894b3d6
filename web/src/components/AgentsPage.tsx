// The agents and everything each makes available, with its include mode.
import { useSignal } from '@preact/signals';
import type { AgentItem, AgentUsage } from '../api/types';
import { agentProblems, agents, defaultAgent } from '../state/catalogue';
import { itemsOf, sameItem, usageOf } from '../state/items';
import { pretty } from '../text/json';
import { counted } from '../text/numbers';
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
    <Page title="Agents" lead="What a conversation can draw on: rules, references and tools. Each is in every session (always), added by hand, or sent when it fits a message.">
      <div class="segmented" role="group" aria-label="Agent">
        {agents.value.map((known) => (
          <button key={known.name} aria-pressed={known.name === name} onClick={() => (chosen.value = known.name)}>{known.name}{known.name === defaultAgent.value ? ' (default)' : ''}</button>
        ))}
      </div>
      {agentProblems.value.map((problem) => <p key={problem} class="warning">{problem}</p>)}
      {agent && <><p>{agent.description}</p><AgentItems key={agent.name} agent={agent.name} /></>}
      <p class="quiet">Agents are folders: <code>agents/NAME/agent.toml</code> with <code>rules/</code> and <code>references/</code> beside it. Changes to them apply within seconds. MCP servers are configured in <code>throughline.toml</code> and apply after the next start.</p>
    </Page>
  );
}

function AgentItems({ agent }: { agent: string }) {
  const loaded = useLoaded(() => itemsOf(agent), [agent]);
  const usage = useLoaded(() => usageOf(agent), [agent]);
  if (loaded.state !== 'here') return <Waiting loaded={loaded} />;
  if (loaded.value.length === 0) return <p class="quiet">It has no rules, references or tools yet. Put a rule into <code>agents/{agent}/rules/NAME.md</code>, or name an MCP server under <code>[servers]</code> in <code>throughline.toml</code>.</p>;
  const used = usage.state === 'here' ? usage.value : null;
  return (
    <>
      {ITEM_TYPES.map(({ type, label }) => {
        const items = loaded.value.filter((item) => item.type === type);
        return items.length > 0 && (
          <section key={type} class="card">
            <h2>{label} <span class="of">({items.length})</span></h2>
            <ul class="rows">{items.map((item) => <li key={nameOfItem(item)}><ItemRow item={item} usage={used} /></li>)}</ul>
          </section>
        );
      })}
    </>
  );
}

/** From this many requests on, an item that is always there and never used is worth a word. */
const NEVER_USED_FROM = 5;

function ItemRow({ item, usage }: { item: AgentItem; usage: AgentUsage | null }) {
  const counts = usage?.items.find((known) => sameItem(known, item));
  const idle = item.include === 'always' && counts !== undefined && counts.used === 0 && counts.sent >= NEVER_USED_FROM;
  return (
    <details class="item-row">
      <summary><span class="item-name">{nameOfItem(item)}</span> <Badge mode={item.include} /><span class="item-about">{item.description}</span>{counts && <span class="item-usage" data-idle={idle}>used {counts.used} of {counted(counts.sent, 'request')}</span>}</summary>
      {idle && <p class="warning">It is in every request and no reply used it. <code>include: agent</code> would send it only when it fits.</p>}
      {item.refused && <p class="warning">May not run: {item.refused}</p>}
      <pre tabIndex={0}>{pretty(item.text)}</pre>
    </details>
  );
}
