// The text of a piece as it was sent; for an item of the agent also as it is now, and the difference.
import { useSignal } from '@preact/signals';
import type { Piece } from '../api/types';
import { itemNow } from '../state/items';
import { textOf } from '../state/receipts';
import { session as open } from '../state/session';
import { isPicture } from '../text/file';
import { pretty } from '../text/json';
import { Difference } from './Difference';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';

export function PieceText({ piece, session, turn }: { piece: Piece; session: string; turn: number }) {
  const now = useSignal(false);
  const { source } = piece;
  const isItem = source.kind === 'rule' || source.kind === 'reference' || source.kind === 'tool';
  const then = useLoaded(() => textOf(session, turn, piece.hash), [session, turn, piece.hash]);
  return (
    <div class="piece-text">
      {isItem && (
        <div class="segmented" role="group" aria-label="Which version">
          <button aria-pressed={!now.value} onClick={() => (now.value = false)}>As it was sent</button>
          <button aria-pressed={now.value} onClick={() => (now.value = true)}>As it is now</button>
        </div>
      )}
      {then.state !== 'here' ? <Waiting loaded={then} />
        : now.value && isItem ? <TextNow source={source} agent={open.value?.agent ?? null} then={then.value} />
        : isPicture(then.value) ? <img class="piece-picture" src={then.value} alt={'name' in source ? source.name : 'A picture'} />
        : <pre tabIndex={0}>{pretty(then.value)}</pre>}
    </div>
  );
}

function TextNow({ source, agent, then }: { source: Extract<Piece['source'], { name: string }>; agent: string | null; then: string }) {
  const now = useLoaded(() => itemNow(agent, source), [agent, source]);
  if (now.state !== 'here') return <Waiting loaded={now} />;
  if (now.value === null) return <p class="quiet">The agent no longer has it.</p>;
  const text = now.value;
  if (source.kind === 'tool') return <pre tabIndex={0}>{pretty(text)}</pre>;
  if (then.includes(text.trim())) return <><p class="quiet">Unchanged since.</p><pre tabIndex={0}>{text}</pre></>;
  // What was sent begins with a line that names the item; that line is no difference.
  const [head = ''] = then.split('\n', 1);
  return <Difference before={then} after={head.includes(`"${source.name}"`) ? `${head}\n${text}` : text} />;
}
