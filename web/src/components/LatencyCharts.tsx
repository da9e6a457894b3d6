// Requests and how long they take, between one look and the next.
import { total, type Look } from '../state/operations';
import { Chart } from './Chart';

/** Histograms and summaries that measure time, by their name without `_sum`. */
function timers(look: Look): string[] {
  const names = look.samples.map((sample) => sample.name);
  return [...new Set(names.filter((name) => /seconds_sum$/.test(name)).map((name) => name.slice(0, -4)))].sort();
}

const COLOURS = ['--kind-history', '--kind-tools', '--kind-entities', '--kind-summary', '--kind-rules'];

export function LatencyCharts({ looks }: { looks: Look[] }) {
  const now = looks.at(-1)!;
  const names = timers(now).slice(0, COLOURS.length);
  if (names.length === 0) return null;
  const times = looks.map((look) => look.at);
  const between = (value: (look: Look, before: Look) => number | null) => looks.map((look, index) => (index === 0 ? null : value(look, looks[index - 1]!)));
  const label = (name: string) => name.replace(/^throughline_/, '').replace(/_(duration_)?seconds$/, '').replaceAll('_', ' ');
  return (
    <div class="charts">
      <Chart title="Mean time" unit=" ms" times={times} lines={names.map((name, index) => ({
        label: label(name), colour: COLOURS[index]!,
        values: between((look, before) => {
          const made = total(look, `${name}_count`) - total(before, `${name}_count`);
          return made > 0 ? ((total(look, `${name}_sum`) - total(before, `${name}_sum`)) / made) * 1000 : 0;
        }),
      }))} />
      <Chart title="A second" unit="" times={times} lines={names.map((name, index) => ({
        label: label(name), colour: COLOURS[index]!,
        values: between((look, before) => (total(look, `${name}_count`) - total(before, `${name}_count`)) / (look.at - before.at)),
      }))} />
    </div>
  );
}
