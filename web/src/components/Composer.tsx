// Where a message is written, sent and stopped.
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { stop } from '../state/chat';
import { live } from '../state/live';
import { Icon } from './Icon';

export interface ComposerProps {
  /** The session that is written to; null for one that is to be made. */
  session: string | null;
  /** Why nothing can be written now. */
  disabled?: string | null;
  focus?: boolean;
  onSend: (message: string) => void;
}

export function Composer({ session, disabled: closed, focus, onSend }: ComposerProps) {
  const text = useSignal('');
  const field = useRef<HTMLTextAreaElement>(null);
  const running = live.value?.state === 'running' && live.value.session === session;
  // One turn is followed at a time.
  const elsewhere = live.value?.state === 'running' && !running ? 'Another conversation is being answered.' : null;
  const disabled = closed ?? elsewhere;
  useLayoutEffect(() => {
    const element = field.current!;
    element.style.height = 'auto';
    element.style.height = `${Math.min(element.scrollHeight, 240)}px`;
  }, [text.value]);
  useLayoutEffect(() => {
    if (focus && matchMedia('(hover: hover)').matches) field.current?.focus();
  }, [focus]);
  const submit = () => {
    const message = text.value.trim();
    if (!message || running || disabled) return;
    text.value = '';
    onSend(message);
  };
  return (
    <form class="composer" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      {disabled && <p class="quiet">{disabled}</p>}
      <div class="composer-box">
        <textarea id="message" ref={field} rows={1} value={text.value} aria-label="Message" placeholder="Write a message"
          disabled={Boolean(disabled)} enterkeyhint="send"
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
              event.preventDefault();
              submit();
            }
          }} />
        {running
          ? <button type="button" class="send stop" onClick={stop} aria-label="Stop" title="Stop (Esc)"><Icon name="stop" /></button>
          : <button class="send" aria-label="Send" title="Send (Enter)" disabled={!text.value.trim() || Boolean(disabled)}><Icon name="send" /></button>}
      </div>
    </form>
  );
}
