// "Context used": what one request was made of, what was left out and why; or two requests compared.
import { compared, inspected } from '../state/inspector';
import { attempt } from '../state/notices';
import { receiptOf } from '../state/receipts';
import { turns } from '../state/session';
import type { Receipt } from '../api/types';
import { KINDS, kindOf } from '../text/kinds';
import { count, moment, percent } from '../text/numbers';
import { CompareTurns } from './CompareTurns';
import { DroppedSection } from './DroppedSection';
import { Icon } from './Icon';
import { PieceSection } from './PieceSection';
import { copyRequest } from './TurnActions';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';
import { WindowBar } from './WindowBar';

export interface ContextTabProps {
  session: string;
  turn: number;
  total: number;
}

export function ContextTab({ session, turn, total }: ContextTabProps) {
  turns.value?.arrived.value;
  const loaded = useLoaded(() => (turn > 0 ? receiptOf(session, turn) : Promise.resolve(null)), [session, turn]);
  if (turn === 0) return <p class="quiet">Send a message, and what the model is shown will be listed here.</p>;
  return (
    <>
      <TurnStepper turn={turn} total={total} />
      {loaded.state !== 'here' ? <Waiting loaded={loaded} />
        : loaded.value === null ? <p class="no-context">No context data. This turn was recorded without a receipt.</p>
        : compared.value !== null ? <CompareTurns session={session} one={compared.value} two={turn} />
        : <ContextUsed session={session} turn={turn} total={total} receipt={loaded.value} />}
    </>
  );
}

function TurnStepper({ turn, total }: { turn: number; total: number }) {
  const to = (wanted: number) => {
    inspected.value = wanted;
    compared.value = null;
  };
  return (
    <div class="stepper">
      <button class="icon-button back" aria-label="The turn before" disabled={turn <= 1} onClick={() => to(turn - 1)}><Icon name="chevron" size={16} /></button>
      <h2>Context used, turn {count(turn)}{total > 1 && <span class="of"> of {count(total)}</span>}</h2>
      <button class="icon-button" aria-label="The turn after" disabled={turn >= total} onClick={() => to(turn + 1)}><Icon name="chevron" size={16} /></button>
    </div>
  );
}

function ContextUsed({ session, turn, total, receipt }: ContextTabProps & { receipt: Receipt }) {
  const sent = receipt.pieces.filter((piece) => piece.sent);
  const dropped = receipt.pieces.filter((piece) => !piece.sent);
  return (
    <div class="context-used">
      <p class="summary">{receipt.summary}</p>
      <WindowBar receipt={receipt} />
      <div class="actions start">
        <button class="button small" onClick={() => attempt(() => copyRequest(session, turn))}><Icon name="copy" size={14} /> Copy exact request</button>
        {total > 1 && <button class="button small" onClick={() => (compared.value = turn > 1 ? turn - 1 : 2)}><Icon name="compare" size={14} /> Compare</button>}
      </div>
      {KINDS.map(({ kind, label }) => {
        const pieces = sent.filter((piece) => kindOf(piece.source) === kind);
        return pieces.length > 0 && <PieceSection key={kind} kind={kind} label={label} pieces={pieces} session={session} turn={turn} />;
      })}
      <DroppedSection pieces={dropped} session={session} turn={turn} />
      <dl class="facts fine">
        <div><dt>Prompt mode</dt><dd>{receipt.mode}, because {receipt.mode_why}</dd></div>
        <div><dt>Window</dt><dd>{count(receipt.budget.used_tokens)} of {count(receipt.budget.limit_tokens)} tokens, {percent(receipt.budget.share)}</dd></div>
        <div><dt>Parameters</dt><dd>temperature {receipt.parameters.temperature.toFixed(1)}, reply up to {count(receipt.parameters.reply_tokens_max)} tokens</dd></div>
        <div><dt>Assembled</dt><dd>{moment(receipt.at)}</dd></div>
        <div><dt>Request hash</dt><dd><code class="hash">{receipt.id}</code></dd></div>
      </dl>
    </div>
  );
}
