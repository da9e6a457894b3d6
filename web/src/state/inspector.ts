// The side panel: which of its tabs is open, and which turn it looks at.
import { signal } from '@preact/signals';

export type Tab = 'context' | 'map' | 'entities' | 'items' | 'persona';
/** How a request is looked at: against the turn before, whole, over time, or as it was sent. */
export type View = 'changes' | 'all' | 'timeline' | 'request';

/** Wide screens begin with the panel open; on a phone it covers the conversation, so it begins closed. */
export const inspectorOpen = signal(matchMedia('(min-width: 1100px)').matches);
export const tab = signal<Tab>('context');
/** The turn that is looked at; the last one when null. */
export const inspected = signal<number | null>(null);
/** The chosen view; null for the one that fits: what changed, from the second turn on. */
export const view = signal<View | null>(null);
/** The turn it is compared with; the one before when null. */
export const compared = signal<number | null>(null);

export function inspect(turn: number, which: Tab = 'context') {
  inspected.value = turn;
  compared.value = null;
  tab.value = which;
  inspectorOpen.value = true;
}

/** Compares the turn that is looked at with another. */
export function compareWith(turn: number) {
  compared.value = turn;
  view.value = 'changes';
  tab.value = 'context';
  inspectorOpen.value = true;
}
