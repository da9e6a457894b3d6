// The map of a session: stretches about one thing, what was decided and changed, and where each turn stands for the
// newest request.
import type { Conversation, Receipt, TurnBrief } from '../api/types';
import { failureOf } from './failure';

/** Where a turn stands in the newest request. */
export type Place = 'verbatim' | 'recalled' | 'condensed' | 'out' | 'newest';
export type Mark = 'changed' | 'looked up' | 'refused' | 'failed' | 'stopped';

export interface Stop {
  turn: number;
  words: string;
  place: Place;
  marks: Mark[];
  tools: string[];
  /** What happened to the window at this turn. */
  notes: string[];
}

export interface Stretch {
  topic: string;
  stops: Stop[];
}

export const PLACE_WORDS: Record<Place, string> = {
  newest: 'the newest',
  verbatim: 'word for word',
  recalled: 'recalled',
  condensed: 'in the summary',
  out: 'not in the request',
};

export function placesOf(receipt: Receipt | null, total: number): (turn: number) => Place {
  const verbatim = new Set<number>();
  const recalled = new Set<number>();
  let condensed: [number, number] = [0, 0];
  for (const { source, included } of receipt?.pieces ?? []) {
    if (!included) continue;
    if (source.kind === 'history') verbatim.add(source.turn);
    else if (source.kind === 'recalled' || source.kind === 'earlier_result') recalled.add(source.turn);
    else if (source.kind === 'summary') condensed = [source.from, source.to];
  }
  return (turn) => turn === total ? 'newest'
    : verbatim.has(turn) ? 'verbatim'
    : recalled.has(turn) ? 'recalled'
    : turn >= condensed[0] && turn <= condensed[1] && condensed[1] > 0 ? 'condensed'
    : 'out';
}

function marksOf(turn: TurnBrief, changes: (tool: string) => boolean): Mark[] {
  const failure = failureOf(turn);
  return [
    ...(turn.tools_used.some(changes) && turn.status !== 'refused' ? ['changed' as const] : []),
    ...(turn.tools_used.some((tool) => !changes(tool)) ? ['looked up' as const] : []),
    ...(turn.status === 'refused' ? ['refused' as const] : []),
    ...(failure ? [failure.kind] : []),
  ];
}

/** What a turn is mostly about; nothing where it names nothing. */
function topicOf(turn: TurnBrief): string {
  const [main] = [...turn.entities].sort((one, two) => two.confidence - one.confidence);
  return main ? `${main.type.replaceAll('_', ' ')} ${main.name || main.id || ''}`.trim() : '';
}

function notesOf(turn: number, head: Conversation): string[] {
  const pruned = head.prunings.filter((pruning) => pruning.turn === turn);
  return [
    ...(head.summary?.to === turn ? [`Turns ${head.summary.from}–${head.summary.to} are condensed into a summary`] : []),
    ...pruned.map((pruning) => `${pruning.dropped === 1 ? '1 piece' : `${pruning.dropped} pieces`} no longer fitted`),
    ...(head.forked_from?.turn === turn ? ['Forked here'] : []),
  ];
}

export function mapOf(briefs: TurnBrief[], head: Conversation, place: (turn: number) => Place, changes: (tool: string) => boolean): Stretch[] {
  const stretches: Stretch[] = [];
  for (const turn of briefs) {
    const topic = topicOf(turn);
    const stop: Stop = {
      turn: turn.turn, words: turn.message.split('\n', 1)[0] || turn.reply.split('\n', 1)[0] || '', place: place(turn.turn),
      marks: marksOf(turn, changes), tools: turn.tools_used, notes: notesOf(turn.turn, head),
    };
    const last = stretches.at(-1);
    if (last && (topic === '' || topic === last.topic)) last.stops.push(stop);
    else stretches.push({ topic: topic || 'the beginning', stops: [stop] });
  }
  return stretches;
}
