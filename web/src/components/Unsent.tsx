// A message that the server has not confirmed: why, and what can be done.
import type { Problem } from '../api/client';
import { forget, sendOut, takeBack } from '../state/chat';
import { sentence } from '../state/notices';
import { outbox } from '../state/outbox';
import { Icon } from './Icon';

export function Unsent({ session, problem }: { session: string; problem: Problem | null }) {
  const outgoing = outbox.value[session];
  if (!outgoing) return null;
  return (
    <div class="failure" role="alert">
      <p><Icon name="warning" size={16} /> Not sent{problem ? `: ${problem.message}` : ''}. Your message is kept.</p>
      {problem?.hint && <p class="quiet">{sentence(problem.hint)}.</p>}
      <div class="actions start">
        <button class="button primary small" onClick={() => sendOut(outgoing)}>Retry</button>
        <button class="button small" onClick={() => takeBack(outgoing)}>Edit</button>
        <button class="button small danger-text" onClick={() => forget(session)}>Discard</button>
      </div>
    </div>
  );
}
