// One committed turn: the message, what the tools did, the reply, and one line about what the model saw.
import type { TurnBrief } from '../api/types';
import type { Turns } from '../state/turns';
import { inspect, inspected, inspectorOpen } from '../state/inspector';
import { moment, ago, milliseconds } from '../text/numbers';
import { Icon } from './Icon';
import { Markdown } from './Markdown';
import { PastCalls } from './PastCalls';
import { TurnActions } from './TurnActions';

const STATUS: Record<string, string> = {
  partial: 'Stopped before the end; this is what had been said.',
  refused: 'A call was refused.',
  erased: 'The content of this turn was erased.',
};

function formOf({ form }: TurnBrief): { label: string; title: string } {
  switch (form.by) {
    case 'model':
      return { label: form.model ?? 'model', title: 'Worded by this model' };
    case 'sampling':
      return { label: form.model ?? 'client', title: "Worded by the MCP client's own model" };
    case 'offline':
      return { label: 'without a model', title: form.why ?? '' };
    default:
      return { label: 'recorded', title: 'Recorded by an application' };
  }
}

export function TurnView({ turns, turn }: { turns: Turns; turn: number }) {
  const brief = turns.get(turn);
  if (!brief) return <div class="skeleton" aria-label={`Turn ${turn} is loading`} role="img"><span /><span /><span /></div>;
  const form = formOf(brief);
  const looked = inspectorOpen.value && inspected.value === turn;
  return (
    <div class="turn" data-status={brief.status}>
      {brief.message && <div class="said"><p>{brief.message}</p></div>}
      {brief.tools_used.length > 0 && <PastCalls turns={turns} turn={brief} />}
      {brief.reply && <Markdown text={brief.reply} />}
      {STATUS[brief.status] && <p class="status">{STATUS[brief.status]}</p>}
      {brief.error && <p class="status bad"><Icon name="warning" size={16} /> {brief.error.message} <code>{brief.error.code}</code></p>}
      <footer>
        {brief.context
          ? (
            <button class="context-line" aria-pressed={looked} onClick={() => inspect(turn)} title="What the model was shown, and why">
              <Icon name="layers" size={15} /> <span>{brief.context}</span>
            </button>
          )
          : <span class="context-line none"><Icon name="layers" size={15} /> No context data</span>}
        <span class="meta">
          <a href={`#/c/${encodeURIComponent(turns.session)}/${turn}`}>turn {turn}</a>
          <span title={form.title}>{form.label}</span>
          {'took_ms' in brief && typeof brief.took_ms === 'number' && <span>{milliseconds(brief.took_ms)}</span>}
          <time dateTime={brief.at} title={moment(brief.at)}>{ago(brief.at)}</time>
          <TurnActions session={turns.session} turn={turn} withContext={brief.context !== null} />
        </span>
      </footer>
    </div>
  );
}
