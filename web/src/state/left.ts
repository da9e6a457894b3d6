// Turns whose reply ended because the page was left: the server records them as stopped, and nobody stopped them.
import { signal } from '@preact/signals';
import { keep, keptValue } from './kept';

const NAME = 'left';
const KEPT_MAX = 50;

const left = signal<string[]>(keptValue<string[]>(NAME) ?? []);

export const wasLeft = (session: string, turn: number) => left.value.includes(`${session}/${turn}`);

export function noteLeft(session: string, turn: number) {
  left.value = [...left.value, `${session}/${turn}`].slice(-KEPT_MAX);
  keep(NAME, left.value);
}
