// A modal dialog: the browser's own, which keeps the focus inside and gives it back afterwards.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './Icon';

/** What somebody does first in a dialog: what it marks as that, else the field that is filled in, else the first button. */
const FIRST = ['[data-first]', ':is(input, textarea, select):not(:disabled)', ':is(button, a):not(:disabled)'];

export interface DialogProps {
  title: string;
  wide?: boolean;
  huge?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, wide, huge, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key: one that is typed at once belongs to the dialog.
  useLayoutEffect(() => {
    const shown = dialog.current!;
    shown.showModal();
    // The browser would choose ×, where the space that somebody types closes the dialog.
    const body = shown.querySelector('.dialog-body')!;
    const first = FIRST.map((which) => body.querySelector<HTMLElement>(which)).find((found) => found !== null);
    first?.focus();
    // What is typed over is the whole of it.
    if (first instanceof HTMLInputElement && !first.readOnly) first.select();
  }, []);
  return (
    <dialog ref={dialog} class={huge ? 'huge' : wide ? 'wide' : ''} aria-label={title} onClose={onClose}
      onClick={(event) => { if (event.target === dialog.current) dialog.current?.close(); }}>
      <header>
        <h2>{title}</h2>
        <button class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}><Icon name="close" /></button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
