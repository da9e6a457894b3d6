// A button with a short list of things to do.
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './Icon';

export interface MenuEntry {
  label: string;
  danger?: boolean;
  run: () => unknown;
}

export function Menu({ label, entries, small = false }: { label: string; entries: MenuEntry[]; small?: boolean }) {
  const open = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    if (!open.value) return;
    box.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const outside = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) open.value = false;
    };
    addEventListener('pointerdown', outside);
    return () => removeEventListener('pointerdown', outside);
  }, [open.value]);
  // A dialog gives the focus back to what had it before: the button, for the entry is gone by then.
  const choose = (entry: MenuEntry) => {
    box.current?.querySelector('button')?.focus();
    open.value = false;
    void entry.run();
  };
  const keys = (event: KeyboardEvent) => {
    const items = [...(box.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const here = items.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'Escape' && open.value) {
      open.value = false;
      box.current?.querySelector('button')?.focus();
    } else if (event.key === 'ArrowDown' && open.value) items[(here + 1) % items.length]?.focus();
    else if (event.key === 'ArrowUp' && open.value) items[(here - 1 + items.length) % items.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" ref={box} onKeyDown={keys}>
      <button class={small ? 'icon-button small' : 'icon-button'} aria-haspopup="menu" aria-expanded={open.value} aria-controls={open.value ? id : undefined} aria-label={label} title={label}
        onClick={() => (open.value = !open.value)}><Icon name="more" size={small ? 15 : 18} /></button>
      {open.value && (
        <div class="menu-list" role="menu" id={id} aria-label={label}>
          {entries.map((entry) => (
            <button key={entry.label} role="menuitem" data-danger={entry.danger} onClick={() => choose(entry)}>{entry.label}</button>
          ))}
        </div>
      )}
    </div>
  );
}
