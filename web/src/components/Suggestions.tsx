// The next step of the tour, offered while it is being followed.
import { sendMessage } from '../state/chat';
import { live } from '../state/live';
import { once } from '../state/notices';
import { session } from '../state/session';
import { nextStep, STEPS, tourAgent } from '../state/tour';
import type { Turns } from '../state/turns';

export function Suggestions({ turns }: { turns: Turns }) {
  turns.arrived.value;
  const head = session.value;
  if (!head || live.value || head.agent !== tourAgent() || !tourAgent() || turns.total.value > STEPS.length * 2) return null;
  // Until the newest turn is here nobody knows what comes next.
  if (turns.total.value > 0 && !turns.get(turns.total.value)) return null;
  const step = nextStep(turns.loaded().map((turn) => turn.message));
  if (!step || !head.active) return null;
  return (
    <div class="suggestion">
      <span class="quiet">Next:</span>
      <button class="chip" onClick={({ detail: presses }) => presses < 2 && once(`send ${step.message}`, async () => void sendMessage(head.id, step.message))}>{step.message}</button>
      <span class="quiet only-wide">{step.shows.toLowerCase()}</span>
    </div>
  );
}
