// One piece: its name, how it came in, its tokens; opened, its text as it was and as it is now.
import { useSignal } from '@preact/signals';
import type { Piece } from '../api/types';
import { droppedBecause, modeOf, nameOf } from '../text/kinds';
import { count } from '../text/numbers';
import { Badge } from './Badge';
import { PieceText } from './PieceText';

export function PieceRow({ piece, session, turn }: { piece: Piece; session: string; turn: number }) {
  const open = useSignal(false);
  const mode = modeOf(piece.source);
  return (
    <div class="piece" data-sent={piece.sent}>
      <button class="piece-line" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        <span class="piece-name">{nameOf(piece.source)}</span>
        {mode ? <Badge mode={mode} score={piece.score} /> : piece.score !== null && <span class="badge" title="How well it matches the message, 0–1">{piece.score.toFixed(2)}</span>}
        <span class="tokens" title="Tokens">{count(piece.tokens)}</span>
      </button>
      {piece.dropped && <p class="dropped">Left out: {droppedBecause(piece.dropped)}.</p>}
      {open.value && (
        <div class="piece-more">
          <p class="why">{piece.why}</p>
          <PieceText piece={piece} session={session} turn={turn} />
        </div>
      )}
    </div>
  );
}
