// What all sessions come to: by agent and by topic.
import { acrossSessions } from '../state/across';
import { count, counted } from '../text/numbers';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';

export function Across() {
  const loaded = useLoaded(acrossSessions, []);
  if (loaded.state !== 'here') return <section class="card"><h2>Across sessions</h2><Waiting loaded={loaded} /></section>;
  const { sessions, turns, waiting, more, agents, topics } = loaded.value;
  return (
    <section class="card">
      <h2>Across sessions</h2>
      <p>{counted(sessions, 'session')}{more ? ', the newest of more,' : ''} with {counted(turns, 'turn')}{sessions > 0 ? `, ${(turns / sessions).toFixed(1)} a session` : ''}. {waiting > 0 && `${counted(waiting, 'session')} ${waiting === 1 ? 'waits' : 'wait'} for a decision. `}
        {topics.length > 0 && <>Mostly about {topics.map(([topic, times]) => `${topic.replaceAll('_', ' ')} (${times})`).join(', ')}.</>}</p>
      {agents.length > 0 && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Sessions by agent">
          <table>
            <thead><tr><th scope="col">Agent</th><th scope="col">Sessions</th><th scope="col">Turns</th><th scope="col">Tokens in</th><th scope="col">from a cache</th><th scope="col">Tokens out</th></tr></thead>
            <tbody>{agents.map((row) => (
              <tr key={row.agent}><th scope="row">{row.agent}</th><td>{count(row.sessions)}</td><td>{count(row.turns)}</td><td>{count(row.inputTokens)}</td><td>{count(row.cachedTokens)}</td><td>{count(row.outputTokens)}</td></tr>
            ))}</tbody>
          </table>
        </div>
      )}
    </section>
  );
}
