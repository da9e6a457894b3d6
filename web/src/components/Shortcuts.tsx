// Keys that work outside of text fields, and the list of them.
import { signal } from '@preact/signals';
import { inspectorOpen } from '../state/inspector';
import { live } from '../state/live';
import { stop } from '../state/chat';
import { go, openId } from '../state/route';
import { Dialog } from './Dialog';

export const shortcutsOpen = signal(false);

const KEYS: [string, string, () => void][] = [
  ['/', 'Search sessions', () => document.getElementById('find')?.focus()],
  ['n', 'New session', () => go('#/')],
  ['m', 'Write a message', () => document.getElementById('message')?.focus()],
  ['c', 'Show or hide the context panel', () => { if (openId.value) inspectorOpen.value = !inspectorOpen.value; }],
  ['o', 'Operations', () => go('#/operations')],
  ['?', 'This list', () => (shortcutsOpen.value = true)],
];

function writing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export function listenToKeys() {
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    if (event.key === 'Escape' && live.value?.state === 'running') return stop();
    if (writing(event.target)) return;
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
        <div><dt><kbd>Esc</kbd></dt><dd>Stop the reply, or close what is open</dd></div>
      </dl>
    </Dialog>
  );
}
