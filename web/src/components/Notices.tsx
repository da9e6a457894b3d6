// What was done or failed, for a few seconds.
import { dismiss, notices } from '../state/notices';
import { Icon } from './Icon';

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map((notice) => (
        <div key={notice.id} class="notice" data-tone={notice.tone}>
          <div>
            <p>{notice.text}</p>
            {notice.hint && <p class="hint">{notice.hint}</p>}
          </div>
          <button class="icon-button" aria-label="Dismiss" onClick={() => dismiss(notice.id)}><Icon name="close" size={15} /></button>
        </div>
      ))}
    </div>
  );
}
