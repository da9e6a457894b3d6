// What changed between two requests: what is new, gone, different, and how much stayed.
import { useSignal } from '@preact/signals';
import type { Piece, Receipt } from '../api/types';
import { compared } from '../state/inspector';
import { textOf } from '../state/receipts';
import { compareReceipts, whyGone } from '../text/comparison';
import { nameOf } from '../text/kinds';
import { count, counted, tokens } from '../text/numbers';
import { Difference } from './Difference';
import { Pieces } from './Pieces';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';

interface ContextChangesProps {
  session: string;
  one: number;
  two: number;
  before: Receipt | null;
  after: Receipt;
}

export function ContextChanges({ session, one, two, before, after }: ContextChangesProps) {
  return (
    <div class="compare">
      <label class="field inline"><span>Since turn</span>
        <input type="number" min={1} value={one} onChange={(event) => {
          const wanted = event.currentTarget.valueAsNumber;
          if (wanted >= 1) compared.value = wanted === two - 1 ? null : wanted;
        }} />
      </label>
      {before
        ? <Compared session={session} one={one} two={two} before={before} after={after} />
        : <p class="no-context">There is no record of turn {count(one)} to compare with. <em>Everything</em> shows what went into this turn.</p>}
    </div>
  );
}

const sum = (pieces: Piece[]) => pieces.reduce((all, piece) => all + piece.tokens, 0);

function Compared({ session, one, two, before, after }: { session: string; one: number; two: number; before: Receipt; after: Receipt }) {
  const { came, went, changed, same } = compareReceipts(before, after);
  const more = after.budget.used_tokens - before.budget.used_tokens;
  const gone = went.map((piece) => ({ ...piece, why: whyGone(piece, after), score: null }));
  return (
    <>
      <p class="summary"><b>{more < 0 ? '−' : '+'}{tokens(Math.abs(more))}.</b> {counted(came.length, 'piece')} new, {went.length} gone, {changed.length} changed, {same.length} unchanged.</p>
      <Section title="New" sign="added" pieces={came} session={session} turn={two} />
      <Section title="Gone" sign="removed" pieces={gone} session={session} turn={one} />
      {changed.length > 0 && (
        <details class="pieces" open data-sign="changed">
          <summary><span class="sign" aria-hidden="true">~</span> <span class="label">Changed <span class="of">({changed.length})</span></span></summary>
          <ul>{changed.map((pair, index) => <li key={index}><Changed session={session} one={one} two={two} before={pair.before} after={pair.after} /></li>)}</ul>
        </details>
      )}
      <Section title="Unchanged" sign="same" pieces={same} session={session} turn={two} folded />
    </>
  );
}

const SIGN: Record<string, string> = { added: '+', removed: '−', same: '=' };

function Section({ title, sign, pieces, session, turn, folded }: { title: string; sign: string; pieces: Piece[]; session: string; turn: number; folded?: boolean }) {
  if (pieces.length === 0) return null;
  return (
    <details class="pieces" open={!folded} data-sign={sign}>
      <summary><span class="sign" aria-hidden="true">{SIGN[sign]}</span> <span class="label">{title} <span class="of">({pieces.length})</span></span><span class="tokens">{tokens(sum(pieces))}</span></summary>
      <Pieces pieces={pieces} session={session} turn={turn} />
    </details>
  );
}

function Changed({ session, one, two, before, after }: { session: string; one: number; two: number; before: Piece; after: Piece }) {
  const open = useSignal(false);
  return (
    <div class="piece">
      <button class="piece-line" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        <span class="piece-name">{nameOf(after.source)}</span>
        <span class="tokens">{count(before.tokens)} → {tokens(after.tokens)}</span>
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
