// What was considered and not sent, by reason.
import type { Piece } from '../api/types';
import { droppedBecause } from '../text/kinds';
import { count } from '../text/numbers';
import { PieceRow } from './PieceRow';

export function DroppedSection({ pieces, session, turn }: { pieces: Piece[]; session: string; turn: number }) {
  if (pieces.length === 0) return null;
  const reasons = [...new Set(pieces.map((piece) => piece.dropped ?? ''))];
  return (
    <details class="pieces left-out">
      <summary><span class="swatch" /> <span class="label">Left out <span class="of">({pieces.length})</span></span>
        <span class="by-mode" /><span class="tokens">{count(pieces.reduce((sum, piece) => sum + piece.tokens, 0))}</span></summary>
      {reasons.map((reason) => {
        const those = pieces.filter((piece) => (piece.dropped ?? '') === reason);
        return (
          <div key={reason} class="reason">
            <h3>{those.length} because {droppedBecause(reason)}</h3>
            <ul>{those.map((piece, index) => <li key={index}><PieceRow piece={{ ...piece, dropped: null }} session={session} turn={turn} /></li>)}</ul>
          </div>
        );
      })}
    </details>
  );
}
