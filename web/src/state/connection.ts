// Whether the server answers. Once it does not, it is asked every few seconds until it does again.
import { effect, signal } from '@preact/signals';

export const reachable = signal(true);
/** Grows each time the server answers again, so that what could not be loaded is loaded. */
export const returned = signal(0);

const SOON_MS = 500;
const LATE_MS = 5000;

let timer: ReturnType<typeof setTimeout> | undefined;

function probe(wait: number) {
  timer = setTimeout(async () => {
    try {
      await fetch('/api/v1/health', { cache: 'no-store' });
      answered();
    } catch {
      probe(Math.min(LATE_MS, wait * 2));
    }
  }, wait);
}

/** The server has answered something. */
export function answered() {
  if (reachable.peek()) return;
  reachable.value = true;
  returned.value += 1;
}

/** A request found no server. */
export function silent() {
  reachable.value = false;
}

effect(() => {
  clearTimeout(timer);
  if (!reachable.value) probe(SOON_MS);
});
