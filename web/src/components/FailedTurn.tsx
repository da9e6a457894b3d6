// How a turn failed, and what can be done about it.
import type { TurnBrief } from '../api/types';
import { attachedTo } from '../state/attached';
import { sendMessage } from '../state/chat';
import { live } from '../state/live';
import { once, sentence } from '../state/notices';
import type { Failure } from '../text/failure';
import { Icon } from './Icon';

export function FailedTurn({ session, turn, failure, last }: { session: string; turn: TurnBrief; failure: Failure; last: boolean }) {
  const again = (withoutModel: boolean) => once(`send ${session}/${turn.turn}`, async () => {
    const attachments = await attachedTo(session, turn);
    void sendMessage(session, turn.message, { withoutModel, attachments });
  });
  const open = last && live.value === null && Boolean(turn.message);
  if (failure.kind === 'stopped') {
    return (
      <p class="status stopped"><span><Icon name="stop" size={14} /> {failure.words}</span>
        {open && <button class="button small" onClick={() => again(false)}>Retry</button>}</p>
    );
  }
  return (
    <div class="failure" data-mild={failure.answeredWithout}>
      <p><Icon name="warning" size={16} /> <strong>{failure.words}</strong>{failure.answeredWithout && ' The reply above was made without it.'}</p>
      {failure.detail && <p class="quiet">{sentence(failure.detail)}</p>}
      {!failure.answeredWithout && <p class="quiet">Your message is kept.</p>}
      {open && (
        <div class="actions start">
          <button class="button small primary" onClick={() => again(false)}>Retry</button>
          {!failure.answeredWithout && <button class="button small" onClick={() => again(true)}>Answer without a model</button>}
        </div>
      )}
    </div>
  );
}
