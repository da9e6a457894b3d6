// Two receipts side by side: what came, what went, what is the same thing with another text.
import type { Piece, Receipt } from '../api/types';
import { droppedBecause, identity } from './kinds';

export interface Comparison {
  came: Piece[];
  went: Piece[];
  changed: { before: Piece; after: Piece }[];
  same: Piece[];
}

export function compareReceipts(one: Receipt, two: Receipt): Comparison {
  const before = new Set(one.pieces.filter(comparable));
  const result: Comparison = { came: [], went: [], changed: [], same: [] };
  const take = (fits: (piece: Piece) => boolean) => {
    const found = [...before].find(fits);
    if (found) before.delete(found);
    return found;
  };
  // A request may hold several texts about one thing: those that are in both are the same, and only the rest can have changed.
  const same = new Set(two.pieces.filter((after) => comparable(after) && take((piece) => piece.hash === after.hash && identity(piece) === identity(after))));
  for (const after of two.pieces.filter((piece) => piece.included)) {
    const known = same.has(after) || !comparable(after) ? undefined : take((piece) => identity(piece) === identity(after));
    if (same.has(after)) result.same.push(after);
    else if (known) result.changed.push({ before: known, after });
    else result.came.push(after);
  }
  result.went = [...before];
  return result;
}

/** The message of one turn is not a new version of another's. */
const comparable = (piece: Piece) => piece.included && piece.source.kind !== 'message';

/** Why something that was sent before is not sent now. */
export function whyGone(piece: Piece, now: Receipt): string {
  const considered = now.pieces.find((known) => !known.included && identity(known) === identity(piece));
  return considered?.dropped ? droppedBecause(considered.dropped) : 'it does not belong to this message';
}
