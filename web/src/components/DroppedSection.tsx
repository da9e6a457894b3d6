// What was considered and not sent, by reason.
import type { Piece } from '../api/types';
import { droppedBecause } from '../text/kinds';
import { tokens } from '../text/numbers';
import { Pieces } from './Pieces';

export function DroppedSection({ pieces, session, turn }: { pieces: Piece[]; session: string; turn: number }) {
  if (pieces.length === 0) return null;
  const explained = pieces.map((piece) => ({ ...piece, why: droppedBecause(piece.dropped ?? '') }));
  return (
    <details class="pieces left-out" open>
      <summary><span class="swatch" /> <span class="label">Left out <span class="of">({pieces.length})</span></span>
        <span class="tokens">{tokens(pieces.reduce((sum, piece) => sum + piece.tokens, 0))}</span></summary>
      <Pieces pieces={explained} session={session} turn={turn} />
    </details>
  );
}
