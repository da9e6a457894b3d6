// A list of pieces with the reason for each where it stands: once for those that share it.
import type { Piece } from '../api/types';
import { whyOf } from '../text/kinds';
import { PieceRow } from './PieceRow';

/** From this many on, pieces with the same reason stand under it. */
const GROUPED_FROM = 3;

export function Pieces({ pieces, session, turn }: { pieces: Piece[]; session: string; turn: number }) {
  const groups = new Map<string, Piece[]>();
  for (const piece of pieces) groups.set(whyOf(piece), [...(groups.get(whyOf(piece)) ?? []), piece]);
  return (
    <>
      {[...groups].map(([why, those]) => {
        const grouped = those.length >= GROUPED_FROM;
        return (
          <div key={why} class="reason">
            {grouped && <h3>{those.length} pieces: {why}</h3>}
            <ul>{those.map((piece, index) => <li key={index}><PieceRow piece={piece} session={session} turn={turn} why={grouped ? '' : why} /></li>)}</ul>
          </div>
        );
      })}
    </>
  );
}
