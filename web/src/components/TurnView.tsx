// One committed turn: the message, what the tools did, the reply, and one line about what the model was shown.
import { useSignal } from '@preact/signals';
import type { TurnBrief } from '../api/types';
import { inspect, inspected, inspectorOpen } from '../state/inspector';
import { session as open } from '../state/session';
import { wasLeft } from '../state/left';
import { otherVersions } from '../state/forks';
import type { Turns } from '../state/turns';
import { failureOf } from '../text/failure';
import { milliseconds, moment, ago } from '../text/numbers';
import { shownWords } from '../text/shown';
import { FailedTurn } from './FailedTurn';
import { Icon } from './Icon';
import { Markdown } from './Markdown';
import { PastCalls } from './PastCalls';
import { Said, SaidEditor } from './Said';
import { TurnActions } from './TurnActions';

function formOf({ form }: TurnBrief): { label: string; title: string } {
  switch (form.by) {
    case 'model':
      return { label: form.model ?? 'model', title: 'Worded by this model' };
    case 'sampling':
      return { label: form.model ?? 'client', title: "Worded by the MCP client's own model" };
    case 'offline':
      return { label: 'no model', title: form.why ?? '' };
    default:
      return { label: 'recorded', title: 'Recorded by an application' };
  }
}

/** What stands in for a turn that is not here yet. */
export function Outline({ turn }: { turn: number }) {
  return <div class="skeleton" aria-label={`Turn ${turn} is loading`} role="img"><span /><span /><span /></div>;
}

export function TurnView({ turns, turn }: { turns: Turns; turn: number }) {
  const editing = useSignal(false);
  const brief = turns.get(turn);
  if (!brief) return <Outline turn={turn} />;
  const failure = failureOf(brief, wasLeft(turns.session, turn));
  const last = turn === turns.total.value;
  return (
    <div class="turn" data-status={brief.status}>
      {editing.value
        ? <SaidEditor session={turns.session} turn={brief} onClose={() => (editing.value = false)} />
        : brief.message && <Said text={brief.message} attachments={brief.attachments ?? []} stored={{ session: turns.session, turn: brief }} />}
      {brief.tools_used.length > 0 && <PastCalls turns={turns} turn={brief} />}
      {brief.reply.trim() && <Markdown text={brief.reply} />}
      {failure && <FailedTurn session={turns.session} turn={brief} failure={failure} last={last} />}
      {brief.status === 'refused' && <p class="status">A call was refused.</p>}
      {brief.withheld && brief.status !== 'erased' && <p class="status">No request uses this turn: a memory that was said in it was forgotten.</p>}
      {brief.status === 'erased' && <p class="status">The content of this turn was erased.</p>}
      <footer>
        <ContextLine turn={brief} />
        <TurnActions session={turns.session} turn={brief} onEdit={() => (editing.value = true)} />
        <Meta session={turns.session} turn={brief} />
      </footer>
    </div>
  );
}

function ContextLine({ turn }: { turn: TurnBrief }) {
  if (!turn.context) return <span class="context-line none"><Icon name="layers" size={15} /> <span>No record of what a model was shown</span></span>;
  const looked = inspectorOpen.value && inspected.value === turn.turn;
  return (
    <button class="context-line" aria-pressed={looked} onClick={() => inspect(turn.turn)} title="What went into this, and why (i)">
      <Icon name="layers" size={15} /> <span><b>{shownWords(turn)}</b> {turn.context}</span>
    </button>
  );
}

function Meta({ session, turn }: { session: string; turn: TurnBrief }) {
  const form = formOf(turn);
  const head = open.value?.id === session ? open.value : null;
  const versions = head ? otherVersions(head, turn.turn) : [];
  return (
    <span class="meta">
      {versions.length > 0 && <span class="versions">also {versions.map((version) => <a key={version.address} href={version.address}>{version.label}</a>)}</span>}
      <a href={`#/c/${encodeURIComponent(session)}/${turn.turn}`}>turn {turn.turn}</a>
      <span title={form.title}>{form.label}</span>
      {'took_ms' in turn && typeof turn.took_ms === 'number' && <span>{milliseconds(turn.took_ms)}</span>}
      <time dateTime={turn.at} title={moment(turn.at)}>{ago(turn.at)}</time>
    </span>
  );
}
