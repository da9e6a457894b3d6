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
  const before = new Map(one.pieces.filter((piece) => piece.included).map((piece) => [identity(piece), piece]));
  const result: Comparison = { came: [], went: [], changed: [], same: [] };
  for (const after of two.pieces.filter((piece) => piece.included)) {
    const known = before.get(identity(after));
    before.delete(identity(after));
    // The message of one turn is not a new version of another's.
    if (!known || after.source.kind === 'message') result.came.push(after);
    else if (known.hash !== after.hash) result.changed.push({ before: known, after });
    else result.same.push(after);
  }
  result.went = [...before.values()].filter((piece) => piece.source.kind !== 'message');
  return result;
}

/** Why something that was sent before is not sent now. */
export function whyGone(piece: Piece, now: Receipt): string {
  const considered = now.pieces.find((known) => !known.included && identity(known) === identity(piece));
  return considered?.dropped ? droppedBecause(considered.dropped) : 'it does not belong to this message';
}
