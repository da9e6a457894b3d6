// Keys that work outside of text fields, and the list of them.
import { signal } from '@preact/signals';
import { inspectorOpen } from '../state/inspector';
import { live } from '../state/live';
import { stop } from '../state/chat';
import { go, openId } from '../state/route';
import { Dialog } from './Dialog';

export const shortcutsOpen = signal(false);

const rows = () => [...document.querySelectorAll<HTMLElement>('article.row')];

/** The turn that has the focus, else the last one in view. */
function currentRow(): HTMLElement | undefined {
  const focused = document.activeElement?.closest<HTMLElement>('article.row');
  return focused ?? rows().filter((row) => row.getBoundingClientRect().top < innerHeight).at(-1);
}

function toRow(step: number) {
  const all = rows();
  const focused = document.activeElement?.closest<HTMLElement>('article.row');
  const next = focused ? all[all.indexOf(focused) + step] : currentRow();
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}

/** Presses a button of the current turn. */
function press(selector: string) {
  currentRow()?.querySelector<HTMLElement>(selector)?.click();
}

const KEYS: [string, string, () => void][] = [
  ['/', 'Search sessions', () => document.getElementById('find')?.focus()],
  ['n', 'New session', () => go('#/')],
  ['m', 'Write a message', () => document.getElementById('message')?.focus()],
  ['k', 'The turn before', () => toRow(-1)],
  ['j', 'The turn after', () => toRow(1)],
  ['i', 'What went into this turn', () => press('button.context-line')],
  ['y', 'Copy its reply', () => press('[data-key=y]')],
  ['r', 'Ask again, in a fork', () => press('[data-key=r]')],
  ['e', 'Edit its message, in a fork', () => press('[data-key=e]')],
  ['c', 'Show or hide the context panel', () => { if (openId.value) inspectorOpen.value = !inspectorOpen.value; }],
  ['o', 'Operations', () => go('#/operations')],
  ['?', 'This list', () => (shortcutsOpen.value = true)],
];

function writing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Who types on when a dialog has closed means the dialog, until there is a pause. */
const PAUSE_MS = 600;

export function listenToKeys() {
  let typedUntil = 0;
  const typedOn = (event: KeyboardEvent) => {
    const meant = document.querySelector('dialog[open]') !== null || event.timeStamp < typedUntil;
    if (meant) typedUntil = event.key === 'Escape' ? 0 : event.timeStamp + PAUSE_MS;
    return meant;
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typedOn(event)) return;
    if (event.key === 'Escape' && live.value?.state === 'running') return stop();
    if (event.key === 'Escape' && event.target instanceof HTMLElement && event.target.id === 'message') return event.target.blur();
    if (writing(event.target)) return;
    // A menu, a tab list and the graph have keys of their own, and stop them there.
    const found = KEYS.find(([key]) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found[2]();
  };
  addEventListener('keydown', pressed);
  return () => removeEventListener('keydown', pressed);
}

export function ShortcutsDialog() {
  if (!shortcutsOpen.value) return null;
  return (
    <Dialog title="Keyboard" onClose={() => (shortcutsOpen.value = false)}>
      <dl class="keys">
        {KEYS.map(([key, words]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{words}</dd></div>)}
        <div><dt><kbd>Enter</kbd></dt><dd>Send the message; with Shift a new line</dd></div>
        <div><dt><kbd>Esc</kbd></dt><dd>Stop the reply, close what is open, or leave the message field</dd></div>
      </dl>
    </Dialog>
  );
}
