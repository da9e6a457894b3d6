// A message that the server has not confirmed: why, and what can be done.
import type { Problem } from '../api/client';
import { forget, sendOut, takeBack } from '../state/chat';
import { reachable } from '../state/connection';
import { sentence } from '../state/notices';
import { outbox } from '../state/outbox';
import { Icon } from './Icon';

/** Why it was not sent, and what to do; a server that did not answer may do so by now. */
function reason(problem: Problem | null): { words: string; hint: string } {
  if (problem?.code !== 'unreachable') return { words: problem?.message ?? '', hint: problem?.hint ?? '' };
  return reachable.value
    ? { words: 'the server did not answer', hint: 'the server answers again' }
    : { words: problem.message, hint: 'see whether it is running' };
}

export function Unsent({ session, problem }: { session: string; problem: Problem | null }) {
  const outgoing = outbox.value[session];
  if (!outgoing) return null;
  const { words, hint } = reason(problem);
  return (
    <div class="failure" role="alert">
      <p><Icon name="warning" size={16} /> Not sent{words ? `: ${words}` : ''}. Your message is kept.</p>
      {hint && <p class="quiet">{sentence(hint)}.</p>}
      <div class="actions start">
        <button class="button primary small" onClick={() => sendOut(outgoing)}>Retry</button>
        <button class="button small" onClick={() => takeBack(outgoing)}>Edit</button>
        <button class="button small danger-text" onClick={() => forget(session)}>Discard</button>
      </div>
    </div>
  );
}
