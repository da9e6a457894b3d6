// One look at the server: health, memory figures, and the counters of /metrics.
import { get, send } from '../api/client';
import type { Health } from '../api/types';
import { samples, type Sample } from '../text/prometheus';

export interface Look {
  at: number;
  health: Health;
  parts: { title: string; values: Record<string, unknown>; note?: string }[];
  samples: Sample[];
}

const SHOWN_ELSEWHERE = ['status', 'version', 'store', 'models', 'servers', 'warnings'];

export async function look(): Promise<Look> {
  const [health, stats, metrics] = await Promise.all([
    get<Health>('/health'),
    get<Record<string, unknown>>('/memory/stats').catch(() => ({})),
    send('/metrics').then((response) => response.text()).catch(() => ''),
  ]);
  const rest = without(health, SHOWN_ELSEWHERE);
  return { at: Date.now() / 1000, health, parts: [...parts('Parts', rest), ...jobs(stats), ...parts('Memory', without(stats, JOBS))], samples: samples(metrics) };
}

const JOBS = ['jobs_waiting', 'jobs_done', 'jobs_failed'];

/** Background work under its own title; nothing where the server tells nothing of it. */
function jobs(stats: Record<string, unknown>): Look['parts'] {
  const told = JOBS.filter((name) => name in stats).map((name) => [name.replace('jobs_', ''), stats[name]]);
  if (told.length === 0) return [];
  return [{ title: 'Jobs', values: Object.fromEntries(told), note: 'What follows a turn: indexing, summaries, look-ups of entities. Counted since the start.' }];
}

function without(values: object, names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}

/** Plain values become one card, each nested group its own. */
function parts(title: string, values: Record<string, unknown>): Look['parts'] {
  const isGroup = (value: unknown) => value !== null && typeof value === 'object' && !Array.isArray(value);
  const plain = Object.fromEntries(Object.entries(values).filter(([, value]) => !isGroup(value)));
  const groups = Object.entries(values).filter(([, value]) => isGroup(value));
  return [
    ...(Object.keys(plain).length > 0 ? [{ title, values: plain }] : []),
    ...groups.map(([name, value]) => ({ title: name.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()), values: value as Record<string, unknown> })),
  ];
}

/** Sum of a counter over its labels. */
export function total(look: Look, name: string): number {
  return look.samples.filter((sample) => sample.name === name).reduce((sum, sample) => sum + sample.value, 0);
}
