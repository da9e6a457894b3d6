// The API key: kept for this tab only, sent only as a header, never part of an address.
import { signal } from '@preact/signals';

const NAME = 'throughline.key';

export const apiKey = signal<string | null>(sessionStorage.getItem(NAME));
/** Whether the server has refused us for want of a key. */
export const keyWanted = signal(false);

export function rememberKey(key: string) {
  sessionStorage.setItem(NAME, key);
  apiKey.value = key;
  keyWanted.value = false;
}

export function forgetKey() {
  sessionStorage.removeItem(NAME);
  apiKey.value = null;
}
