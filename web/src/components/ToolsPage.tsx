// Upstream tools: how each stands against the definition that was approved, and the difference when it changed.
import { useSignal } from '@preact/signals';
import { at, change } from '../api/client';
import type { Tool } from '../api/types';
import { once, tell } from '../state/notices';
import { listTools } from '../state/tools';
import { pretty } from '../text/json';
import { moment } from '../text/numbers';
import { Difference } from './Difference';
import { Page } from './Page';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';

export function ToolsPage() {
  const asked = useSignal(0);
  const words = useSignal('');
  const loaded = useLoaded(() => listTools(true), [asked.value]);
  return (
    <Page title="Tools" lead="Definitions are pinned when they are first seen. One that changes does not run until you have looked at the difference and approved it.">
      {loaded.state !== 'here' ? <Waiting loaded={loaded} /> : (
        <>
          {loaded.value.unavailable.map(({ server, reason }) => <p key={server} class="warning">{server} cannot be asked: {reason}</p>)}
          {loaded.value.tools.length > 8 && (
            <label class="field inline"><span>Filter</span><input type="search" value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} /></label>
          )}
          {loaded.value.tools.length === 0 && <p class="quiet">No MCP server is configured. Add one under [servers] in throughline.toml.</p>}
          <Tools tools={loaded.value.tools.filter((tool) => `${tool.server}:${tool.name} ${tool.description}`.toLowerCase().includes(words.value.toLowerCase()))}
            onApproved={() => (asked.value += 1)} />
        </>
      )}
    </Page>
  );
}

function Tools({ tools, onApproved }: { tools: Tool[]; onApproved: () => void }) {
  const servers = [...new Set(tools.map((tool) => tool.server))];
  return (
    <>
      {servers.map((server) => {
        const those = tools.filter((tool) => tool.server === server).sort((one, two) => Number(one.approved) - Number(two.approved));
        return (
          <section key={server} class="card">
            <h2>{server} <span class="of">({those.length})</span></h2>
            <ul class="rows">{those.map((tool) => <li key={tool.name}><ToolRow tool={tool} onApproved={onApproved} /></li>)}</ul>
          </section>
        );
      })}
    </>
  );
}

function definition(tool: Pick<Tool, 'title' | 'description' | 'input_schema'>): string {
  return pretty({ title: tool.title ?? undefined, description: tool.description, input_schema: tool.input_schema });
}

function ToolRow({ tool, onApproved }: { tool: Tool; onApproved: () => void }) {
  const approve = () => once(`approve ${tool.server}:${tool.name}`, async () => {
    await change('POST', at('tools', tool.server, tool.name, 'approve'));
    tell(`${tool.name} is approved as it is now.`);
    onApproved();
  });
  const { pinned } = tool;
  return (
    <details class="item-row" open={!tool.approved}>
      <summary><span class="item-name">{tool.name}</span> <span class="badge" data-state={tool.approved ? 'approved' : 'changed'}>{tool.approved ? 'pinned' : pinned ? 'changed' : 'not approved'}</span><span class="item-about">{tool.description}</span></summary>
      {tool.refused && <p class="warning">May not run: {tool.refused}</p>}
      {!tool.approved && pinned && <><h3>What changed</h3><Difference before={definition(pinned)} after={definition(tool)} /></>}
      {!tool.approved && <button class="button primary small" onClick={approve}>Approve this definition</button>}
      {(tool.approved || !pinned) && <pre tabIndex={0}>{definition(tool)}</pre>}
      {pinned && <p class="quiet">The earlier one was approved {moment(pinned.approved_at)} by {pinned.approved_by}.</p>}
      <p class="quiet">Fingerprint <code class="hash">{tool.fingerprint}</code></p>
    </details>
  );
}
