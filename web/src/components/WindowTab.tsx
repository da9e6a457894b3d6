// The window over the conversation: one column a turn, stacked by kind. Receipts are fetched for the columns shown.
import { useSignal } from '@preact/signals';
import type { Receipt } from '../api/types';
import { inspect } from '../state/inspector';
import { receiptOf } from '../state/receipts';
import { turns } from '../state/session';
import { KINDS, labelOf } from '../text/kinds';
import { count, percent } from '../text/numbers';
import { stretches, tokensByKind } from '../text/window';
import type { ContextTabProps } from './ContextTab';
import { Icon } from './Icon';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';
import { WindowBar } from './WindowBar';

const COLUMNS = 30;
const WIDTH = 360;
const HEIGHT = 180;
const STEP_MAX = 34;

export function WindowTab({ session, turn, total }: ContextTabProps) {
  turns.value?.arrived.value;
  const end = useSignal<number | null>(null);
  const last = Math.min(end.value ?? total, total);
  const first = Math.max(1, last - COLUMNS + 1);
  const loaded = useLoaded(
    () => Promise.all(Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => receiptOf(session, first + index))),
    [session, first, last],
  );
  if (total === 0) return <p class="quiet">There is no turn yet.</p>;
  if (loaded.state !== 'here') return <Waiting loaded={loaded} />;
  const looked = loaded.value[turn - first];
  return (
    <div class="window-tab">
      <div class="stepper">
        <button class="icon-button back" aria-label="Earlier turns" disabled={first <= 1} onClick={() => (end.value = first - 1)}><Icon name="chevron" size={16} /></button>
        <h2>Turns {count(first)}–{count(last)}</h2>
        <button class="icon-button" aria-label="Later turns" disabled={last >= total} onClick={() => (end.value = Math.min(total, last + COLUMNS))}><Icon name="chevron" size={16} /></button>
      </div>
      <Columns first={first} receipts={loaded.value} chosen={turn} />
      <Legend receipts={loaded.value} />
      <Table first={first} receipts={loaded.value} />
      {looked && <><h3>Turn {count(turn)}</h3><WindowBar receipt={looked} /></>}
    </div>
  );
}

/** Each column begins at the bottom with what is sent first, so the stable prefix ends at its line. */
function Columns({ first, receipts, chosen }: { first: number; receipts: (Receipt | null)[]; chosen: number }) {
  const most = Math.max(1, ...receipts.map((receipt) => receipt?.budget.used_tokens ?? 0));
  const limit = Math.max(...receipts.map((receipt) => receipt?.budget.limit_tokens ?? 0));
  const ceiling = most > limit * 0.25 ? limit : most / 0.9;
  const step = Math.min(STEP_MAX, WIDTH / receipts.length);
  const gap = step * 0.15;
  const y = (tokens: number) => HEIGHT - (tokens / ceiling) * HEIGHT;
  const fullest = receipts.reduce((most, receipt) => Math.max(most, receipt?.budget.share ?? 0), 0);
  return (
    <svg class="columns" viewBox={`0 -4 ${WIDTH} ${HEIGHT + 24}`} role="img"
      aria-label={`Tokens a turn, by kind. The fullest window is ${percent(fullest)} of its limit.`}>
      {receipts.map((receipt, index) => {
        const turn = first + index;
        const x = index * step;
        return (
          <g key={turn} class="column" data-chosen={turn === chosen} onClick={() => inspect(turn, 'window')}>
            <rect class="column-ground" x={x} y="0" width={step} height={HEIGHT} />
            {receipt && stretches(receipt).map((part, place) => (
              <rect key={place} class="bar-part" data-kind={part.kind} x={x + gap} y={y(part.start + part.tokens)} width={step - 2 * gap} height={(part.tokens / ceiling) * HEIGHT} />
            ))}
            {receipt && receipt.stable_prefix_tokens > 0 && (
              <line class="stable-line" x1={x + gap / 2} x2={x + step - gap / 2} y1={y(receipt.stable_prefix_tokens)} y2={y(receipt.stable_prefix_tokens)} />
            )}
            {(receipts.length <= 12 || turn % 5 === 0) && <text x={x + step / 2} y={HEIGHT + 14}>{turn}</text>}
          </g>
        );
      })}
      <line class="ground-line" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
      {ceiling === limit && (
        <>
          <line class="limit" x1="0" x2={WIDTH} y1={y(limit * 0.8)} y2={y(limit * 0.8)} />
          <text class="limit-words" x={WIDTH} y={y(limit * 0.8) - 4}>80 % of {count(limit)}</text>
        </>
      )}
    </svg>
  );
}

function Legend({ receipts }: { receipts: (Receipt | null)[] }) {
  const present = KINDS.filter(({ kind }) => receipts.some((receipt) => receipt && (tokensByKind(receipt).get(kind) ?? 0) > 0));
  return (
    <p class="legend">
      {present.map(({ kind }) => <span key={kind} data-kind={kind}><i class="swatch" />{labelOf(kind)}</span>)}
      <span><i class="stable-mark" />same as the turn before up to here</span>
    </p>
  );
}

/** The same as figures, for those who cannot see the columns or want to know exactly. */
function Table({ first, receipts }: { first: number; receipts: (Receipt | null)[] }) {
  return (
    <details class="figures">
      <summary>As a table</summary>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Tokens a turn">
        <table>
          <thead><tr><th scope="col">Turn</th><th scope="col">Used</th><th scope="col">Of window</th><th scope="col">Stable</th><th scope="col">Left out</th></tr></thead>
          <tbody>
            {receipts.map((receipt, index) => (
              <tr key={index}>
                <th scope="row">{first + index}</th>
                {receipt
                  ? <><td>{count(receipt.budget.used_tokens)}</td><td>{percent(receipt.budget.share)}</td><td>{count(receipt.stable_prefix_tokens)}</td><td>{receipt.pieces.filter((piece) => !piece.sent).length}</td></>
                  : <td colSpan={4}>No context data</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
