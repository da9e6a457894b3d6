// What was done or failed, for a few seconds.
import { attempt, dismiss, notices, tell, type Notice } from '../state/notices';
import { Icon } from './Icon';

async function takeBack({ id, undo }: Notice) {
  dismiss(id);
  if (await attempt(async () => undo?.())) tell('Undone.');
}

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map((notice) => (
        <div key={notice.id} class="notice" data-tone={notice.tone}>
          <div>
            <p>{notice.text}</p>
            {notice.hint && <p class="hint">{notice.hint}</p>}
          </div>
          {notice.undo && <button class="button small" onClick={() => takeBack(notice)}>Undo</button>}
          <button class="icon-button" aria-label="Dismiss" onClick={() => dismiss(notice.id)}><Icon name="close" size={15} /></button>
        </div>
      ))}
    </div>
  );
}
