// The pieces of one kind, folded: "Rules (3)".
import type { Piece } from '../api/types';
import { modeOf, type Kind } from '../text/kinds';
import { count } from '../text/numbers';
import { PieceRow } from './PieceRow';

export interface PieceSectionProps {
  kind: Kind;
  label: string;
  pieces: Piece[];
  session: string;
  turn: number;
}

/** "2 agent, 1 always" for sections whose items have modes. */
function modes(pieces: Piece[]): string {
  const counts = new Map<string, number>();
  for (const piece of pieces) {
    const mode = modeOf(piece.source);
    if (mode) counts.set(mode, (counts.get(mode) ?? 0) + 1);
  }
  return ['agent', 'always', 'manual'].filter((mode) => counts.has(mode)).map((mode) => `${counts.get(mode)} ${mode}`).join(', ');
}

export function PieceSection({ kind, label, pieces, session, turn }: PieceSectionProps) {
  const tokens = pieces.reduce((sum, piece) => sum + piece.tokens, 0);
  const byMode = modes(pieces);
  return (
    <details class="pieces" data-kind={kind} open={pieces.length <= 8}>
      <summary>
        <span class="swatch" /> <span class="label">{label} <span class="of">({pieces.length})</span></span>
        <span class="by-mode">{byMode}</span>
        <span class="tokens">{count(tokens)}</span>
      </summary>
      <ul>{pieces.map((piece, index) => <li key={index}><PieceRow piece={piece} session={session} turn={turn} /></li>)}</ul>
    </details>
  );
}
