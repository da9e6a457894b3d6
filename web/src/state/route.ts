// Where the reader is: the part of the address after `#`, which browsers send to no server. Nothing secret goes there but
// the token of a read-only link, which is the link.
import { computed, signal } from '@preact/signals';

export type Place =
  | { name: 'new' }
  | { name: 'session'; id: string; turn: number | null }
  | { name: 'shared'; token: string }
  | { name: 'agents' | 'tools' | 'personas' | 'operations' | 'memory' }
  | { name: 'nowhere'; address: string };

const hash = signal(location.hash);
addEventListener('hashchange', () => (hash.value = location.hash));

export const place = computed<Place>(() => {
  const address = hash.value.replace(/^#\/?/, '');
  const [first = '', second, third] = address.split('/').map(decoded);
  if (first === 'c' && second) return { name: 'session', id: second, turn: Number(third) || null };
  if (first === 'shared') return { name: 'shared', token: second ?? '' };
  if (first === 'agents' || first === 'tools' || first === 'personas' || first === 'operations' || first === 'memory') return { name: first };
  return first === '' ? { name: 'new' } : { name: 'nowhere', address };
});

/** A part of an address; one that was not escaped properly is taken as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const openId = computed(() => (place.value.name === 'session' ? place.value.id : null));

export function addressOf(id: string, turn?: number): string {
  return `#/c/${encodeURIComponent(id)}${turn ? `/${turn}` : ''}`;
}

export function go(address: string) {
  location.hash = address;
}
