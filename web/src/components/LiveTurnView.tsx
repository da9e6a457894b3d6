// The turn that is being made.
import { decide } from '../state/chat';
import type { LiveTurn } from '../state/live';
import { liveShownWords } from '../text/shown';
import { Icon } from './Icon';
import { KnownNames } from './KnownNames';
import { Markdown } from './Markdown';
import { Said } from './Said';
import { ToolCall } from './ToolCall';
import { Unsent } from './Unsent';

export function LiveTurnView({ turn }: { turn: LiveTurn }) {
  const silent = turn.state === 'running' && !turn.text && !turn.calls.some((call) => call.state === 'running');
  return (
    <article class="turn" aria-label="The turn under way" data-status="live">
      {turn.message && <Said text={turn.message} attachments={turn.attachments} />}
      {turn.calls.length > 0 && (
        <div class="calls">
          {turn.calls.map((call) => (
            <ToolCall key={call.id} call={call} open={call.state === 'waiting'}>
              {call.state === 'waiting' && (
                <div class="approval" role="group" aria-label={`Decide ${call.name}`}>
                  <p>This call needs your approval{call.reason ? `: ${call.reason}` : ''}.</p>
                  <KnownNames session={turn.session} call={call} calls={turn.calls} />
                  <button class="button primary" onClick={() => decide(turn.session, call.id, true)}>Approve</button>
                  {call.forSession && <button class="button" onClick={() => decide(turn.session, call.id, true, true)}>Allow for this session</button>}
                  <button class="button" onClick={() => decide(turn.session, call.id, false)}>Refuse</button>
                </div>
              )}
            </ToolCall>
          ))}
        </div>
      )}
      {turn.text && <Markdown text={turn.text} growing />}
      {silent && <p class="thinking"><span class="dots" aria-hidden="true"><i /><i /><i /></span> {turn.context ? 'Waiting for words…' : 'Gathering context…'}</p>}
      {turn.context && turn.state !== 'unsent' && (
        <footer><span class="context-line none"><Icon name="layers" size={15} /> <span><b>{liveShownWords(turn.context)}</b> {turn.context.summary}</span></span></footer>
      )}
      {turn.state === 'unsent' && <Unsent session={turn.session} problem={turn.problem} begun={turn.text !== '' || turn.calls.length > 0} />}
    </article>
  );
}
