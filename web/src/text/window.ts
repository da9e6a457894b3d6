// A receipt as the picture of the window: what was sent, in the order of sending.
import type { Receipt } from '../api/types';
import { KINDS, kindOf, type Kind } from './kinds';

export interface Stretch {
  kind: Kind;
  tokens: number;
  start: number;
}

/** Neighbouring pieces of one kind become one stretch. */
export function stretches(receipt: Receipt): Stretch[] {
  const found: Stretch[] = [];
  let start = 0;
  for (const piece of receipt.pieces) {
    if (!piece.included) continue;
    const kind = kindOf(piece.source);
    const last = found.at(-1);
    if (last?.kind === kind) last.tokens += piece.tokens;
    else found.push({ kind, tokens: piece.tokens, start });
    start += piece.tokens;
  }
  return found;
}

/** Tokens by kind, in the order of the page's sections. */
export function tokensByKind(receipt: Receipt): Map<Kind, number> {
  const sums = new Map<Kind, number>(KINDS.map(({ kind }) => [kind, 0]));
  for (const piece of receipt.pieces) {
    if (piece.included) sums.set(kindOf(piece.source), (sums.get(kindOf(piece.source)) ?? 0) + piece.tokens);
  }
  return sums;
}

/** Tokens at the start that are as in the turn before. */
export function stableTokens(receipt: Receipt): number {
  return receipt.stable_prefix_tokens;
}
