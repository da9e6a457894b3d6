// What one answer was made of: a sentence, the bar, and then what changed, everything, the time it took, the request.
import type { Receipt } from '../api/types';
import { compared, inspected, view, type View } from '../state/inspector';
import { live, type LiveTurn } from '../state/live';
import { receiptOf } from '../state/receipts';
import { turns } from '../state/session';
import { count, percent } from '../text/numbers';
import { liveShownWords, shownWords } from '../text/shown';
import { ContextAll } from './ContextAll';
import { ContextChanges } from './ContextChanges';
import { Icon } from './Icon';
import { RequestView } from './RequestView';
import { Timeline } from './Timeline';
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
  const now = live.value?.session === session && live.value.state !== 'unsent' ? live.value : null;
  const other = compared.value ?? turn - 1;
  const loaded = useLoaded(() => receiptsOf(session, turn, other), [session, turn, other]);
  if (now && inspected.value === null) return <LiveContext turn={now} number={total + 1} />;
  if (turn === 0) return <p class="quiet">Write a message. For every answer you will see here what a model was shown, what was left out, and why.</p>;
  const here = loaded.state === 'here' && loaded.value.session === session ? loaded.value : null;
  return (
    <>
      <TurnStepper shown={here?.turn ?? turn} wanted={turn} total={total} />
      {here ? <ContextOf {...here} /> : <Waiting loaded={loaded} />}
    </>
  );
}

/** The receipt of a turn and the one it is compared with, together: what is shown always belongs together. */
interface Receipts {
  session: string;
  turn: number;
  receipt: Receipt | null;
  other: number;
  before: Receipt | null;
}

async function receiptsOf(session: string, turn: number, other: number): Promise<Receipts> {
  const [receipt, before] = await Promise.all([turn, other].map((wanted) => (wanted > 0 ? receiptOf(session, wanted) : null)));
  return { session, turn, receipt: receipt ?? null, other, before: before ?? null };
}

/** The request of the turn that is being made. */
function LiveContext({ turn, number }: { turn: LiveTurn; number: number }) {
  const { context } = turn;
  return (
    <div class="context-used" aria-live="polite">
      <h2>Turn {count(number)} is being answered</h2>
      {context
        ? <>
            <p class="shown"><b>{liveShownWords(context)}</b> {context.summary}</p>
            <p class="quiet">{count(context.budget.used_tokens)} of {count(context.budget.limit_tokens)} tokens, {percent(context.budget.share)} of the window. The details follow with the reply.</p>
          </>
        : <p class="quiet" aria-busy="true">Collecting context for your message…</p>}
    </div>
  );
}

/** Names the turn that is shown, and steps from the one that was wanted last, which may still be on its way. */
function TurnStepper({ shown, wanted, total }: { shown: number; wanted: number; total: number }) {
  const to = (turn: number) => {
    inspected.value = turn;
    compared.value = null;
  };
  return (
    <div class="stepper">
      <button class="icon-button back" aria-label="The turn before" disabled={wanted <= 1} onClick={() => to(wanted - 1)}><Icon name="chevron" size={16} /></button>
      <h2>Turn {count(shown)}{total > 1 && <span class="of"> of {count(total)}</span>}</h2>
      <button class="icon-button" aria-label="The turn after" disabled={wanted >= total} onClick={() => to(wanted + 1)}><Icon name="chevron" size={16} /></button>
    </div>
  );
}

const VIEWS: [View, string][] = [['changes', 'What changed'], ['all', 'Everything'], ['timeline', 'Time'], ['request', 'Request']];

function ContextOf({ session, turn, receipt, other, before }: Receipts) {
  if (!receipt) return <p class="no-context">There is no record of what a model was shown: an application recorded this turn without a receipt.</p>;
  // The receipt may be here before its turn.
  turns.value?.arrived.value;
  const brief = turns.value?.get(turn) ?? null;
  const offered = turn > 1 ? VIEWS : VIEWS.slice(1);
  const shown = offered.some(([name]) => name === view.value) ? view.value! : offered[0]![0];
  return (
    <div class="context-used">
      <p class="shown"><b>{shownWords(brief)}</b> {receipt.summary}</p>
      <WindowBar receipt={receipt} usage={brief?.usage ?? null} cost={brief?.cost ?? null} />
      <div class="segmented" role="group" aria-label="Look at">
        {offered.map(([name, label]) => <button key={name} aria-pressed={shown === name} onClick={() => (view.value = name)}>{label}</button>)}
      </div>
      {shown === 'changes' && <ContextChanges session={session} one={other} two={turn} before={before} after={receipt} />}
      {shown === 'all' && <ContextAll session={session} turn={turn} receipt={receipt} />}
      {shown === 'timeline' && <Timeline turn={turn} receipt={receipt} />}
      {shown === 'request' && <RequestView key={`${session}/${turn}`} session={session} turn={turn} asked={!receipt.no_model} />}
    </div>
  );
}
