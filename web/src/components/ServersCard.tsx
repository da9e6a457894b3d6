// MCP servers and whether they answer.
import type { ServerStatus } from '../api/types';
import { counted } from '../text/numbers';

const WORDS: Record<string, string> = { idle: 'not needed yet', connected: 'connected', failed: 'failed' };

export function ServersCard({ servers }: { servers: ServerStatus[] }) {
  return (
    <section class="card">
      <h2>MCP servers</h2>
      {servers.length === 0 && <p class="quiet">None configured.</p>}
      <dl class="facts">
        {servers.map(({ name, state, tools }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{WORDS[state.state] ?? state.state}{state.protocol_version ? `, protocol ${state.protocol_version}` : ''}{state.reason ? `: ${state.reason}` : ''}; {counted(tools, 'tool')}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
