// Where a message is written, given files, sent and stopped.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { stop } from '../state/chat';
import { draftOf, filesOf, write } from '../state/drafts';
import { live } from '../state/live';
import { warn } from '../state/notices';
import { ALL_BYTES_MAX, attachmentOf, FILES_MAX, sizeOf, type Attachment } from '../text/file';
import { Icon } from './Icon';

export interface ComposerProps {
  /** The session that is written to; null for one that is to be made. */
  session: string | null;
  /** Why nothing can be written now. */
  disabled?: string | null;
  focus?: boolean;
  onSend: (message: string, attachments: Attachment[]) => void;
}

const HEIGHT_MAX = 240;

export function Composer({ session, disabled: closed, focus, onSend }: ComposerProps) {
  const text = draftOf(session);
  const files = filesOf(session);
  const field = useRef<HTMLTextAreaElement>(null);
  const now = live.value;
  const running = now?.state === 'running' && now.session === session;
  // One turn is followed at a time.
  const elsewhere = now?.state === 'running' && !running ? 'Another conversation is being answered.' : null;
  const disabled = closed ?? elsewhere;
  const unsent = now?.state === 'unsent' && now.session === session;
  useLayoutEffect(() => {
    const element = field.current!;
    element.style.height = 'auto';
    element.style.height = `${Math.min(element.scrollHeight, HEIGHT_MAX)}px`;
  }, [text.value]);
  useLayoutEffect(() => {
    if (focus && matchMedia('(hover: hover)').matches) field.current?.focus();
  }, [focus, session]);
  const add = async (chosen: Iterable<File>) => {
    for (const file of chosen) {
      if (files.value.length >= FILES_MAX) return warn(`A message can have at most ${FILES_MAX} files.`);
      try {
        const next = await attachmentOf(file);
        if (files.value.some((one) => one.name === next.name && one.text === next.text && one.image === next.image)) {
          warn(`${file.name} is already attached.`);
          continue;
        }
        const added = [...files.value, next];
        if (added.reduce((sum, one) => sum + sizeOf(one), 0) > ALL_BYTES_MAX) return warn(`${file.name} does not fit: the files of a message may have 3.5 MiB together.`);
        files.value = added;
      } catch (error) {
        warn((error as Error).message);
      }
    }
  };
  const submit = () => {
    const message = text.value.trim();
    if (!message || running || unsent || disabled) return;
    write(session, '');
    onSend(message, files.value);
    files.value = [];
  };
  return (
    <form class="composer" onSubmit={(event) => { event.preventDefault(); submit(); }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void add(event.dataTransfer?.files ?? []);
      }}>
      {disabled && <p class="quiet">{disabled}</p>}
      {unsent && text.value.trim() && <p class="quiet">Send the message above again, or discard it, before the next one.</p>}
      {files.value.length > 0 && (
        <ul class="files" aria-label="Files to send">
          {files.value.map((file, index) => (
            <li key={index} class="file-chip">{file.image ? <img src={file.image} alt="" /> : <Icon name="file" size={13} />} {file.name}
              <button type="button" aria-label={`Leave ${file.name} out`} onClick={() => (files.value = files.value.filter((other) => other !== file))}><Icon name="close" size={11} /></button></li>
          ))}
        </ul>
      )}
      <div class="composer-box">
        <label class="icon-button file" title="Add a text file or a picture">
          <Icon name="attach" />
          <input type="file" multiple aria-label="Add text files or pictures" disabled={Boolean(disabled)} onChange={(event) => {
            const chosen = [...(event.currentTarget.files ?? [])];
            event.currentTarget.value = '';
            void add(chosen);
          }} />
        </label>
        <textarea id="message" ref={field} rows={1} value={text.value} aria-label="Message" placeholder="Write a message"
          disabled={Boolean(disabled)} enterkeyhint="send"
          onPaste={(event) => {
            const pasted = [...(event.clipboardData?.files ?? [])];
            if (pasted.length === 0) return;
            event.preventDefault();
            void add(pasted);
          }}
          onInput={(event) => write(session, event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
              event.preventDefault();
              submit();
            }
          }} />
        {running
          ? <button type="button" class="send stop" onClick={stop} aria-label="Stop" title="Stop (Esc)"><Icon name="stop" /></button>
          : <button class="send" aria-label="Send" title="Send (Enter)" disabled={!text.value.trim() || unsent || Boolean(disabled)}><Icon name="send" /></button>}
      </div>
    </form>
  );
}
