// The session at a glance: how full each request was, what it was about when, what changed, and what left the window.
import { useSignal } from '@preact/signals';
import type { Conversation } from '../api/types';
import { receiptOf } from '../state/receipts';
import { addressOf } from '../state/route';
import { turns } from '../state/session';
import { changingTools } from '../state/tools';
import { mapOf, PLACE_WORDS, placesOf, type Stop } from '../text/map';
import { count, tokens } from '../text/numbers';
import { topicWords } from '../text/topic';
import { Icon } from './Icon';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';
import { WindowColumns } from './WindowColumns';

const COLUMNS = 30;

export function MapTab({ head, turn, total }: { head: Conversation; turn: number; total: number }) {
  turns.value?.arrived.value;
  const end = useSignal<number | null>(null);
  const last = Math.min(end.value ?? total, total);
  const first = Math.max(1, last - COLUMNS + 1);
  const loaded = useLoaded(async () => {
    const here = turns.value!;
    const [receipts, newest, changes] = await Promise.all([
      Promise.all(Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => receiptOf(head.id, first + index))),
      total > 0 ? receiptOf(head.id, total) : null, changingTools(), here.range(first, last),
    ]);
    return { first, last, receipts, newest, changes };
  }, [head.id, first, last, total]);
  if (total === 0) return <p class="quiet">There is no turn yet. The map shows what a conversation was about, what changed, and what left the window.</p>;
  if (loaded.state !== 'here') return <Waiting loaded={loaded} />;
  return (
    <div class="map-tab">
      <About head={head} total={total} />
      <div class="stepper">
        <button class="icon-button back" aria-label="Earlier turns" disabled={first <= 1} onClick={() => (end.value = first - 1)}><Icon name="chevron" size={16} /></button>
        <h2>Turns {count(loaded.value.first)}–{count(loaded.value.last)}</h2>
        <button class="icon-button" aria-label="Later turns" disabled={last >= total} onClick={() => (end.value = Math.min(total, last + COLUMNS))}><Icon name="chevron" size={16} /></button>
      </div>
      <WindowColumns first={loaded.value.first} receipts={loaded.value.receipts} chosen={turn} />
      <Stretches head={head} total={total} {...loaded.value} />
    </div>
  );
}

function About({ head, total }: { head: Conversation; total: number }) {
  const topic = topicWords(head.topic);
  const used = head.usage.input_tokens + head.usage.output_tokens;
  return (
    <p class="summary">
      {count(total)} turns{topic && <>, now about <b>{topic}</b></>}.
      {head.summary && <> Turns {head.summary.from}–{head.summary.to} are condensed into {tokens(head.summary.tokens)}.</>}
      {used > 0 && <> Providers counted {tokens(used)}{head.usage.cache_read_tokens ? `, ${count(head.usage.cache_read_tokens)} of them from their cache` : ''}.</>}
    </p>
  );
}

interface StretchesProps {
  head: Conversation;
  total: number;
  first: number;
  last: number;
  newest: Awaited<ReturnType<typeof receiptOf>>;
  changes: (tool: string) => boolean;
}

function Stretches({ head, total, first, last, newest, changes }: StretchesProps) {
  const onlyChanges = useSignal(false);
  const briefs = (turns.value?.loaded() ?? []).filter((brief) => brief.turn >= first && brief.turn <= last);
  const stretches = mapOf(briefs, head, placesOf(newest, total), changes)
    .map((stretch) => ({ ...stretch, stops: onlyChanges.value ? stretch.stops.filter(isDecision) : stretch.stops }))
    .filter((stretch) => stretch.stops.length > 0);
  return (
    <section class="map" aria-label="Topics and decisions">
      <div class="segmented" role="group" aria-label="Show">
        <button aria-pressed={!onlyChanges.value} onClick={() => (onlyChanges.value = false)}>All turns</button>
        <button aria-pressed={onlyChanges.value} onClick={() => (onlyChanges.value = true)}>Changes and decisions</button>
      </div>
      {stretches.length === 0 && <p class="quiet">Nothing was changed or refused in these turns.</p>}
      {stretches.map((stretch) => (
        <div key={stretch.stops[0]!.turn} class="stretch">
          <h3>{stretch.topic}</h3>
          <ol>{stretch.stops.map((stop) => <li key={stop.turn} data-place={stop.place}><StopRow session={head.id} stop={stop} /></li>)}</ol>
        </div>
      ))}
    </section>
  );
}

const isDecision = (stop: Stop) => stop.marks.some((mark) => mark === 'changed' || mark === 'refused') || stop.notes.length > 0;

function StopRow({ session, stop }: { session: string; stop: Stop }) {
  return (
    <>
      <a class="stop" href={addressOf(session, stop.turn)} title={stop.tools.join(', ') || undefined}>
        <span class="stop-turn">{stop.turn}</span>
        <span class="stop-words">{stop.words}</span>
        {stop.marks.map((mark) => <span key={mark} class="badge" data-mark={mark}>{mark}</span>)}
        <span class="stop-place">{PLACE_WORDS[stop.place]}</span>
      </a>
      {stop.notes.map((note) => <p key={note} class="stop-note">{note}</p>)}
    </>
  );
}
