// How the time of a turn was spent. Stages are the server's own where it sends them; otherwise they are worked out
// from what is known: when the request was assembled, how long each call and the whole took.
import type { Receipt, Turn } from '../api/types';

export interface Span {
  label: string;
  kind: 'gather' | 'tool' | 'model' | 'commit' | 'wait';
  start: number;
  took: number;
}

export interface TurnTime {
  spans: Span[];
  total: number;
  /** Whether the server measured each stage. */
  measured: boolean;
}

const KIND: Record<string, Span['kind']> = { model: 'model', reply: 'model', tool: 'tool', commit: 'commit', approval: 'wait' };

const LABELS: Record<string, string> = { recall: 'Recall and selection', reply: 'Choosing and wording, no model', commit: 'Commit to the store', approval: 'Waited for a decision' };

/** A stage in words: `tool a:b` is told by the tool, `model m` as it is. */
function labelOf(name: string): string {
  if (name.startsWith('tool ')) return name.slice('tool '.length);
  return LABELS[name] ?? name[0]!.toUpperCase() + name.slice(1);
}

export function timeOf(turn: Turn, receipt: Receipt | null): TurnTime | null {
  if (turn.stages && turn.stages.length > 0) {
    const spans = turn.stages.map(({ name, start_ms: start, took_ms: took }): Span => ({ label: labelOf(name), kind: KIND[name.split(/[ :]/, 1)[0]!] ?? 'gather', start, took }));
    return { spans, total: Math.max(...spans.map(({ start, took }) => start + took)), measured: true };
  }
  if (turn.took_ms === null) return null;
  return workedOut(turn, turn.took_ms, receipt);
}

function workedOut(turn: Turn, total: number, receipt: Receipt | null): TurnTime {
  const begun = Date.parse(turn.at) - total;
  const assembled = receipt ? Date.parse(receipt.at) - begun : 0;
  // Assembled before it began: the turn went on after somebody had decided a call.
  const waited = assembled < 0;
  const first = waited ? -assembled : Math.min(total, assembled);
  const end = waited ? first + total : total;
  const spans: Span[] = [{ label: waited ? 'Waited for a decision' : 'Recall and selection', kind: waited ? 'wait' : 'gather', start: 0, took: first }];
  let at = first;
  for (const round of [...new Set(turn.tool_executions.map((call) => call.round))].sort((one, two) => one - two)) {
    const calls = turn.tool_executions.filter((call) => call.round === round);
    for (const call of calls) spans.push({ label: call.server ? `${call.server}:${call.name}` : call.name, kind: 'tool', start: at, took: Math.min(call.took_ms, Math.max(0, end - at)) });
    at = Math.min(end, at + Math.max(...calls.map((call) => call.took_ms)));
  }
  const label = turn.form.by === 'offline' ? 'Choosing and wording, no model' : turn.form.by === 'model' || turn.form.by === 'sampling' ? `Model ${turn.form.model ?? ''}` : 'Reply';
  spans.push({ label, kind: 'model', start: at, took: end - at });
  return { spans, total: end, measured: false };
}
