// What somebody said, with the files that came along; and the field in which it is said differently.
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { TurnBrief } from '../api/types';
import { sayAgain } from '../state/forks';
import { Icon } from './Icon';
import { SentFile } from './SentFile';

/** `stored` is the turn that holds the files, where it is one already. */
export function Said({ text, attachments, stored }: { text: string; attachments: string[]; stored?: { session: string; turn: TurnBrief } }) {
  return (
    <div class="said">
      {attachments.length > 0 && <ul class="files" aria-label="Files">{attachments.map((name) => <li key={name}>{stored ? <SentFile {...stored} name={name} /> : <span class="file-chip"><Icon name="file" size={13} /> {name}</span>}</li>)}</ul>}
      <p>{text}</p>
    </div>
  );
}

export function SaidEditor({ session, turn, onClose }: { session: string; turn: TurnBrief; onClose: () => void }) {
  const text = useSignal(turn.message);
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(turn.message.length, turn.message.length);
  }, []);
  const send = () => {
    const message = text.value.trim();
    if (!message) return;
    onClose();
    void sayAgain(session, turn, message);
  };
  return (
    <form class="said-editor" onSubmit={(event) => { event.preventDefault(); send(); }}>
      <textarea ref={field} aria-label="Say it differently" rows={3} value={text.value} onInput={(event) => (text.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose();
          else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            send();
          } else return;
          event.stopPropagation();
        }} />
      <div class="actions">
        <span class="quiet">What was said stays; this goes on in a fork.</span>
        <button type="button" class="button small" onClick={onClose}>Cancel</button>
        <button class="button small primary" disabled={!text.value.trim()}>Send in a fork</button>
      </div>
    </form>
  );
}
