// Everything that a request was made of, by kind, and what was left out.
import type { Receipt } from '../api/types';
import { KINDS, kindOf } from '../text/kinds';
import { count, counted, moment, percent } from '../text/numbers';
import { DroppedSection } from './DroppedSection';
import { PieceSection } from './PieceSection';
import { ToolCall } from './ToolCall';

export function ContextAll({ session, turn, receipt }: { session: string; turn: number; receipt: Receipt }) {
  const sent = receipt.pieces.filter((piece) => piece.included);
  // What is in the request already was not left out of it.
  const dropped = receipt.pieces.filter((piece) => !piece.included && piece.dropped !== 'already_present');
  return (
    <>
      {KINDS.map(({ kind, label }) => {
        const pieces = sent.filter((piece) => kindOf(piece.source) === kind);
        return pieces.length > 0 && <PieceSection key={kind} kind={kind} label={label} pieces={pieces} session={session} turn={turn} />;
      })}
      <DroppedSection pieces={dropped} session={session} turn={turn} />
      {receipt.calls.length > 0 && (
        <section class="made-calls" aria-label="Calls">
          <h3>{counted(receipt.calls.length, 'call')}</h3>
          {receipt.calls.map((call, at) => <ToolCall key={at} call={{ ...call, id: String(at), state: call.ok ? 'ok' : 'failed', result: call.error ?? undefined }} tookMs={call.took_ms} />)}
        </section>
      )}
      <dl class="facts fine">
        <div><dt>Guidance</dt><dd>{receipt.mode}, because {receipt.mode_why}</dd></div>
        <div><dt>Window</dt><dd>{count(receipt.budget.used_tokens)} of {count(receipt.budget.limit_tokens)} tokens, {percent(receipt.budget.share)}</dd></div>
        <div><dt>Parameters</dt><dd>temperature {receipt.parameters.temperature.toFixed(1)}, reply up to {count(receipt.parameters.reply_tokens_max)} tokens</dd></div>
        <div><dt>Assembled</dt><dd>{moment(receipt.at)}</dd></div>
        <div><dt>Request hash</dt><dd><code class="hash">{receipt.id}</code></dd></div>
      </dl>
    </>
  );
}
