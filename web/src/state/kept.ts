// Small values that outlive a reload: drafts, messages on their way. Behind a key they are kept for the tab only,
// like the key itself. A browser that keeps nothing is no error.
import { apiKey } from '../api/key';

const PREFIX = 'throughline.';
const shelf = () => (apiKey.peek() ? sessionStorage : localStorage);

export function keptValue<T>(name: string): T | null {
  try {
    const text = shelf().getItem(PREFIX + name);
    return text === null ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}

/** Keeps a value; `null` forgets it. */
export function keep(name: string, value: unknown) {
  try {
    if (value === null) shelf().removeItem(PREFIX + name);
    else shelf().setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Full or forbidden: what is on the screen is still there.
  }
}

/** Calls `changed` when another tab has changed a value. */
export function onChangedElsewhere(name: string, changed: () => void) {
  addEventListener('storage', (event) => {
    if (event.key === PREFIX + name) changed();
  });
}
