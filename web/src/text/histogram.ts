// Quantiles out of Prometheus histograms, between two looks.
import type { Sample } from './prometheus';

/** Cumulative counts by upper bound, summed over all other labels. */
export type Buckets = [bound: number, count: number][];

export function buckets(samples: Sample[], name: string, only: Record<string, string> = {}): Buckets {
  const sums = new Map<number, number>();
  for (const sample of samples) {
    if (sample.name !== `${name}_bucket` || Object.entries(only).some(([label, value]) => sample.labels[label] !== value)) continue;
    const bound = sample.labels['le'] === '+Inf' ? Infinity : Number(sample.labels['le']);
    sums.set(bound, (sums.get(bound) ?? 0) + sample.value);
  }
  return [...sums].sort(([one], [two]) => one - two);
}

/** What was counted after `before`. */
export function since(now: Buckets, before: Buckets): Buckets {
  const earlier = new Map(before);
  return now.map(([bound, count]) => [bound, count - (earlier.get(bound) ?? 0)]);
}

/** The value under which that share lies, evenly spread within its bucket; null where nothing was counted. */
export function quantile(counted: Buckets, share: number): number | null {
  const total = counted.at(-1)?.[1] ?? 0;
  if (total <= 0) return null;
  let from = 0;
  let below = 0;
  for (const [bound, count] of counted) {
    if (count >= share * total) {
      if (bound === Infinity) return from;
      const within = count === below ? 1 : (share * total - below) / (count - below);
      return from + (bound - from) * within;
    }
    from = bound;
    below = count;
  }
  return from;
}
