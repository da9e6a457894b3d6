// The side panel: which of its tabs is open, and which turn it looks at.
import { signal } from '@preact/signals';

export type Tab = 'context' | 'window' | 'entities' | 'items' | 'persona';

/** Wide screens begin with the panel open; on a phone it covers the conversation, so it begins closed. */
export const inspectorOpen = signal(matchMedia('(min-width: 1100px)').matches);
export const tab = signal<Tab>('context');
/** The turn that is looked at; the last one when null. */
export const inspected = signal<number | null>(null);
/** The turn it is compared with. */
export const compared = signal<number | null>(null);

export function inspect(turn: number, which: Tab = 'context') {
  inspected.value = turn;
  compared.value = null;
  tab.value = which;
  inspectorOpen.value = true;
}
