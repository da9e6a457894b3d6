// The turn that is being made.
import { decide } from '../state/chat';
import { live, type LiveTurn } from '../state/live';
import { sentence } from '../state/notices';
import { Icon } from './Icon';
import { Markdown } from './Markdown';
import { ToolCall } from './ToolCall';

export function LiveTurnView({ turn }: { turn: LiveTurn }) {
  const silent = turn.state === 'running' && !turn.text && !turn.calls.some((call) => call.state === 'running');
  return (
    <article class="turn" aria-label="The turn under way" data-status="live">
      {turn.message && <div class="said"><p>{turn.message}</p></div>}
      {turn.calls.length > 0 && (
        <div class="calls">
          {turn.calls.map((call) => (
            <ToolCall key={call.id} call={call} open={call.state === 'waiting'}>
              {call.state === 'waiting' && (
                <div class="approval" role="group" aria-label={`Decide ${call.name}`}>
                  <p>This call needs your approval{call.reason ? `: ${call.reason}` : ''}.</p>
                  <button class="button primary" onClick={() => decide(turn.session, call.id, true)}>Approve</button>
                  <button class="button" onClick={() => decide(turn.session, call.id, false)}>Refuse</button>
                </div>
              )}
            </ToolCall>
          ))}
        </div>
      )}
      {turn.text && <Markdown text={turn.text} />}
      {silent && <p class="thinking"><span class="dots" aria-hidden="true"><i /><i /><i /></span> {turn.context ? 'Waiting for words…' : 'Gathering context…'}</p>}
      {turn.context && turn.state !== 'failed' && (
        <footer><span class="context-line none"><Icon name="layers" size={15} /> <span>{turn.context.summary}</span></span></footer>
      )}
      {turn.state === 'failed' && turn.problem && (
        <div class="failure" role="alert">
          <p><Icon name="warning" size={16} /> {sentence(turn.problem.message)} <code>{turn.problem.code}</code></p>
          {turn.problem.hint && <p class="quiet">{sentence(turn.problem.hint)}</p>}
          <button class="button small" onClick={() => (live.value = null)}>Dismiss</button>
        </div>
      )}
    </article>
  );
}
