// A modal dialog: the browser's own, which keeps the focus inside and gives it back afterwards.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './Icon';

export interface DialogProps {
  title: string;
  wide?: boolean;
  huge?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, wide, huge, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
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
