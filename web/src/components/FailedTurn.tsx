// How a turn failed, and what can be done about it.
import type { TurnBrief } from '../api/types';
import { attachedTo } from '../state/attached';
import { sendMessage } from '../state/chat';
import { live } from '../state/live';
import { attempt, sentence } from '../state/notices';
import type { Failure } from '../text/failure';
import { Icon } from './Icon';

export function FailedTurn({ session, turn, failure, last }: { session: string; turn: TurnBrief; failure: Failure; last: boolean }) {
  if (failure.kind === 'stopped') return <p class="status"><Icon name="stop" size={14} /> {failure.words}</p>;
  const again = (withoutModel: boolean) => attempt(async () => {
    const attachments = await attachedTo(session, turn);
    await sendMessage(session, turn.message, { withoutModel, attachments });
  });
  return (
    <div class="failure" data-mild={failure.answeredWithout}>
      <p><Icon name="warning" size={16} /> <strong>{failure.words}</strong>{failure.answeredWithout && ' The reply above was made without it.'}</p>
      {failure.detail && <p class="quiet">{sentence(failure.detail)}</p>}
      {!failure.answeredWithout && <p class="quiet">Your message is kept.</p>}
      {last && live.value === null && turn.message && (
        <div class="actions start">
          <button class="button small primary" onClick={() => again(false)}>Retry</button>
          {!failure.answeredWithout && <button class="button small" onClick={() => again(true)}>Answer without a model</button>}
        </div>
      )}
    </div>
  );
}
