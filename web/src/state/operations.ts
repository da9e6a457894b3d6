// Looks at the server: health, memory figures, and the counters of /metrics. They are kept while the page is open, so
// that coming back shows what happened before.
import { signal } from '@preact/signals';
import { get, send } from '../api/client';
import type { Health } from '../api/types';
import { samples, type Sample } from '../text/prometheus';

export interface Look {
  at: number;
  health: Health;
  stats: Record<string, unknown>;
  samples: Sample[];
}

const KEPT = 400;
export const looks = signal<Look[]>([]);

export async function look() {
  const [health, stats, metrics] = await Promise.all([
    get<Health>('/health'),
    get<Record<string, unknown>>('/memory/stats').catch(() => ({})),
    send('/metrics').then((response) => response.text()).catch(() => ''),
  ]);
  looks.value = [...looks.value.slice(1 - KEPT), { at: Date.now() / 1000, health, stats, samples: samples(metrics) }];
}

/** Sum of a counter over its labels; `only` narrows it. */
export function total(look: Look, name: string, only: (labels: Record<string, string>) => boolean = () => true): number {
  return look.samples.filter((sample) => sample.name === name && only(sample.labels)).reduce((sum, sample) => sum + sample.value, 0);
}

/** Whether the server counts such a thing at all. */
export function counts(look: Look, name: string): boolean {
  return look.samples.some((sample) => sample.name === name);
}

/** A figure of /memory/stats. */
export function stat(look: Look, name: string): number | null {
  const value = look.stats[name];
  return typeof value === 'number' ? value : null;
}
