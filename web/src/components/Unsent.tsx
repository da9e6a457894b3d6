// A message that the server has not confirmed: why, and what can be done.
import type { Problem } from '../api/client';
import { forget, sendOut, takeBack } from '../state/chat';
import { reachable } from '../state/connection';
import { sentence } from '../state/notices';
import { outbox } from '../state/outbox';
import { Icon } from './Icon';

interface UnsentProps {
  session: string;
  problem: Problem | null;
  /** Whether the server had begun to answer. */
  begun?: boolean;
}

/** What happened, and what to do; a server that did not answer may do so by now. */
function reason(problem: Problem | null, begun: boolean): { words: string; hint: string } {
  const state = reachable.value ? 'the server answers again' : 'see whether the server is running';
  if (problem?.code === 'unreachable' && begun) return { words: 'The reply broke off: the server did not answer any more', hint: state };
  if (problem?.code === 'unreachable') return { words: `Not sent: the server ${reachable.value ? 'did' : 'does'} not answer`, hint: state };
  if (problem?.code === 'session_inactive') return { words: `Not sent: ${problem.message}`, hint: 'restore it at the top of the conversation, then try again' };
  return { words: problem ? `Not sent: ${problem.message}` : 'Not sent', hint: problem?.hint ?? '' };
}

export function Unsent({ session, problem, begun = false }: UnsentProps) {
  const outgoing = outbox.value[session];
  if (!outgoing) return null;
  const { words, hint } = reason(problem, begun);
  return (
    <div class="failure" role="alert">
      <p><Icon name="warning" size={16} /> {words}. Your message is kept.</p>
      {hint && <p class="quiet">{sentence(hint)}.</p>}
      <div class="actions start">
        <button class="button primary small" onClick={() => sendOut(outgoing)}>Retry</button>
        <button class="button small" onClick={() => takeBack(outgoing)}>Edit</button>
        <button class="button small danger-text" onClick={() => forget(session)}>Discard</button>
      </div>
    </div>
  );
}
