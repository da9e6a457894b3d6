// Two turns compared: which pieces came, went, changed or stayed.
import { useSignal } from '@preact/signals';
import type { Piece } from '../api/types';
import { compared } from '../state/inspector';
import { receiptOf, textOf } from '../state/receipts';
import { compareReceipts } from '../text/comparison';
import { nameOf } from '../text/kinds';
import { count, counted } from '../text/numbers';
import { Difference } from './Difference';
import { PieceRow } from './PieceRow';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';

export function CompareTurns({ session, one, two }: { session: string; one: number; two: number }) {
  const loaded = useLoaded(() => Promise.all([receiptOf(session, one), receiptOf(session, two)]), [session, one, two]);
  return (
    <div class="compare">
      <div class="compare-head">
        <label class="field inline"><span>Compare turn {two} with turn</span>
          <input type="number" min={1} value={one} onChange={(event) => {
            const wanted = event.currentTarget.valueAsNumber;
            if (wanted >= 1) compared.value = wanted;
          }} />
        </label>
        <button class="button small" onClick={() => (compared.value = null)}>Done</button>
      </div>
      {loaded.state !== 'here' ? <Waiting loaded={loaded} />
        : !loaded.value[0] || !loaded.value[1] ? <p class="no-context">No context data for turn {loaded.value[0] ? two : one}.</p>
        : <Compared session={session} one={one} two={two} result={compareReceipts(loaded.value[0], loaded.value[1])}
            tokens={loaded.value[1].budget.used_tokens - loaded.value[0].budget.used_tokens} />}
    </div>
  );
}

interface ComparedProps {
  session: string;
  one: number;
  two: number;
  result: ReturnType<typeof compareReceipts>;
  tokens: number;
}

function Compared({ session, one, two, result, tokens }: ComparedProps) {
  return (
    <>
      <p class="summary">{counted(result.came.length, 'piece')} came, {result.went.length} went, {result.changed.length} changed, {result.same.length} stayed the same; {tokens >= 0 ? '+' : '−'}{count(Math.abs(tokens))} tokens.</p>
      <List title="Came" sign="added" pieces={result.came} session={session} turn={two} />
      <List title="Went" sign="removed" pieces={result.went} session={session} turn={one} />
      {result.changed.length > 0 && (
        <details class="pieces" open data-sign="changed">
          <summary><span class="swatch" /> <span class="label">Changed <span class="of">({result.changed.length})</span></span></summary>
          <ul>{result.changed.map(({ before, after }, index) => <li key={index}><Changed session={session} one={one} two={two} before={before} after={after} /></li>)}</ul>
        </details>
      )}
      <List title="The same" sign="same" pieces={result.same} session={session} turn={two} folded />
    </>
  );
}

function List({ title, sign, pieces, session, turn, folded }: { title: string; sign: string; pieces: Piece[]; session: string; turn: number; folded?: boolean }) {
  if (pieces.length === 0) return null;
  return (
    <details class="pieces" open={!folded} data-sign={sign}>
      <summary><span class="swatch" /> <span class="label">{title} <span class="of">({pieces.length})</span></span></summary>
      <ul>{pieces.map((piece, index) => <li key={index}><PieceRow piece={piece} session={session} turn={turn} /></li>)}</ul>
    </details>
  );
}

function Changed({ session, one, two, before, after }: { session: string; one: number; two: number; before: Piece; after: Piece }) {
  const open = useSignal(false);
  return (
    <div class="piece">
      <button class="piece-line" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        <span class="piece-name">{nameOf(after.source)}</span>
        <span class="tokens">{count(before.tokens)} → {count(after.tokens)}</span>
      </button>
      {open.value && <Texts session={session} one={one} two={two} before={before} after={after} />}
    </div>
  );
}

function Texts({ session, one, two, before, after }: { session: string; one: number; two: number; before: Piece; after: Piece }) {
  const loaded = useLoaded(() => Promise.all([textOf(session, one, before.hash), textOf(session, two, after.hash)]), [before.hash, after.hash]);
  if (loaded.state !== 'here') return <Waiting loaded={loaded} />;
  return <Difference before={loaded.value[0]} after={loaded.value[1]} />;
}
