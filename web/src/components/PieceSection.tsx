// The pieces of one kind, folded: "Rules (3)".
import type { Piece } from '../api/types';
import type { Kind } from '../text/kinds';
import { tokens } from '../text/numbers';
import { Pieces } from './Pieces';

/** Longer sections begin closed. */
const OPEN_UP_TO = 8;

export interface PieceSectionProps {
  kind: Kind;
  label: string;
  pieces: Piece[];
  session: string;
  turn: number;
}

export function PieceSection({ kind, label, pieces, session, turn }: PieceSectionProps) {
  return (
    <details class="pieces" data-kind={kind} open={pieces.length <= OPEN_UP_TO}>
      <summary>
        <span class="swatch" /> <span class="label">{label} <span class="of">({pieces.length})</span></span>
        <span class="tokens">{tokens(pieces.reduce((sum, piece) => sum + piece.tokens, 0))}</span>
      </summary>
      <Pieces pieces={pieces} session={session} turn={turn} />
    </details>
  );
}
