// The window over the conversation: one column a turn, stacked by kind, with the same as figures.
import type { Receipt } from '../api/types';
import { inspect } from '../state/inspector';
import { KINDS, labelOf } from '../text/kinds';
import { count, percent } from '../text/numbers';
import { stableTokens, stretches, tokensByKind } from '../text/window';

const WIDTH = 360;
const HEIGHT = 150;
const STEP_MAX = 34;

interface ColumnsProps {
  first: number;
  receipts: (Receipt | null)[];
}

export function WindowColumns({ first, receipts, chosen }: ColumnsProps & { chosen: number }) {
  return (
    <>
      <Columns first={first} receipts={receipts} chosen={chosen} />
      <Legend receipts={receipts} />
      <Table first={first} receipts={receipts} />
    </>
  );
}

/** Each column begins at the bottom with what is sent first, so the stable prefix ends at its line. */
function Columns({ first, receipts, chosen }: ColumnsProps & { chosen: number }) {
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
          <g key={turn} class="column" data-chosen={turn === chosen} onClick={() => inspect(turn, 'map')}>
            <rect class="column-ground" x={x} y="0" width={step} height={HEIGHT} />
            {receipt && stretches(receipt).map((part, place) => (
              <rect key={place} class="bar-part" data-kind={part.kind} x={x + gap} y={y(part.start + part.tokens)} width={step - 2 * gap} height={(part.tokens / ceiling) * HEIGHT} />
            ))}
            {receipt && stableTokens(receipt) > 0 && (
              <line class="stable-line" x1={x + gap / 2} x2={x + step - gap / 2} y1={y(stableTokens(receipt))} y2={y(stableTokens(receipt))} />
            )}
            {(receipts.length <= 12 || turn % 5 === 0) && <text x={x + step / 2} y={HEIGHT + 14}>{turn}</text>}
          </g>
        );
      })}
      <line class="ground-line" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
      {ceiling === limit && (
        <>
          <line class="limit" x1="0" x2={WIDTH} y1={y(limit * 0.8)} y2={y(limit * 0.8)} />
          <text class="limit-words" x={WIDTH} y={y(limit * 0.8) - 4}>80 % of {count(limit)} tokens</text>
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
      <span><i class="stable-mark" />as in the turn before up to here</span>
    </p>
  );
}

/** The same as figures, for those who cannot see the columns or want to know exactly. */
function Table({ first, receipts }: ColumnsProps) {
  return (
    <details class="figures">
      <summary>As a table</summary>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Tokens a turn">
        <table>
          <thead><tr><th scope="col">Turn</th><th scope="col">Tokens</th><th scope="col">Of window</th><th scope="col">As before</th><th scope="col">Pieces left out</th></tr></thead>
          <tbody>
            {receipts.map((receipt, index) => (
              <tr key={index}>
                <th scope="row">{first + index}</th>
                {receipt
                  ? <><td>{count(receipt.budget.used_tokens)}</td><td>{percent(receipt.budget.share)}</td><td>{count(stableTokens(receipt))}</td><td>{receipt.pieces.filter((piece) => !piece.included).length}</td></>
                  : <td colSpan={4}>No record</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
