// Two receipts side by side: what came, what went, what is the same thing with another text.
import type { Piece, Receipt } from '../api/types';
import { identity } from './kinds';

export interface Comparison {
  came: Piece[];
  went: Piece[];
  changed: { before: Piece; after: Piece }[];
  same: Piece[];
}

export function compareReceipts(one: Receipt, two: Receipt): Comparison {
  const before = new Map(one.pieces.filter((piece) => piece.sent).map((piece) => [identity(piece), piece]));
  const result: Comparison = { came: [], went: [], changed: [], same: [] };
  for (const after of two.pieces.filter((piece) => piece.sent)) {
    const known = before.get(identity(after));
    before.delete(identity(after));
    if (!known) result.came.push(after);
    else if (known.hash !== after.hash) result.changed.push({ before: known, after });
    else result.same.push(after);
  }
  result.went = [...before.values()];
  return result;
}
