// One piece: its name, why it is there, its tokens; opened, its text as it was and as it is now.
import { useSignal } from '@preact/signals';
import type { Piece } from '../api/types';
import { modeOf, nameOf } from '../text/kinds';
import { percent, tokens } from '../text/numbers';
import { Badge } from './Badge';
import { PieceOrigin } from './PieceOrigin';
import { PieceText } from './PieceText';

export function PieceRow({ piece, session, turn, why }: { piece: Piece; session: string; turn: number; why: string }) {
  const open = useSignal(false);
  const mode = modeOf(piece.source);
  return (
    <div class="piece" data-sent={piece.included}>
      <button class="piece-line" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        <span class="piece-name">{nameOf(piece.source)}{piece.used && <span class="badge" title="The reply refers to it">used</span>}</span>
        {mode ? <Badge mode={mode} score={piece.score} /> : piece.score !== null && <span class="badge" title="How well it matches the message">{percent(piece.score)} match</span>}
        <span class="tokens">{tokens(piece.tokens)}</span>
        {why && <span class="why">{why}</span>}
      </button>
      {open.value && <div class="piece-more"><PieceOrigin source={piece.source} /><PieceText piece={piece} session={session} turn={turn} /></div>}
    </div>
  );
}
