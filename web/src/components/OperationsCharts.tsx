// The figures over time, between one look and the next; and the routes so far.
import { counts, stat, total, type Look } from '../state/operations';
import { buckets, quantile, since } from '../text/histogram';
import { count, milliseconds } from '../text/numbers';
import { Chart } from './Chart';

const REQUESTS = 'throughline_http_request_seconds';
const ROUTES_SHOWN = 10;
/** The page's own looks and files say nothing about the work. */
const OWN = /^\/(assets|icon|metrics|$)|\/(health|memory\/stats)$/;

export function OperationsCharts({ looks }: { looks: Look[] }) {
  const now = looks.at(-1)!;
  if (buckets(now.samples, REQUESTS).length === 0) return <p class="quiet">Nothing is counted: telemetry is switched off in the configuration.</p>;
  const times = looks.map((look) => look.at);
  const between = (value: (look: Look, before: Look) => number | null) => looks.map((look, index) => (index === 0 ? null : value(look, looks[index - 1]!)));
  const grown = (value: (look: Look) => number) => between((look, before) => Math.max(0, value(look) - value(before)));
  const at = (share: number) => between((look, before) => {
    const seconds = quantile(since(buckets(look.samples, REQUESTS), buckets(before.samples, REQUESTS)), share);
    return seconds === null ? null : seconds * 1000;
  });
  const rate = (name: string) => between((look, before) => Math.max(0, (total(look, name) - total(before, name)) / (look.at - before.at)));
  const effective = counts(now, 'throughline_effective_tokens_total');
  const sent = effective ? 'throughline_effective_tokens_total' : 'throughline_context_tokens_total';
  return (
    <div class="charts">
      <Chart title="What a cache can serve" unit=" %" times={times} lines={[
        { label: 'stable share', colour: '--kind-entities', values: looks.map(({ health: { context } }) => (context.turns > 0 ? context.stable_prefix_share * 100 : null)) },
        { label: 'window used', colour: '--kind-history', values: looks.map(({ health: { context } }) => (context.turns > 0 ? context.last_share * 100 : null)) },
      ]} />
      <Chart title={effective ? 'Effective tokens' : 'Tokens'} unit="" times={times} lines={[
        { label: effective ? 'effective' : 'assembled', colour: '--kind-tools', values: grown((look) => total(look, sent)) },
        { label: 'counted by providers', colour: '--kind-recalled', values: grown((look) => total(look, 'throughline_model_tokens_total', (labels) => labels['direction'] !== 'cache_read')) },
      ]} />
      <Chart title="Request time" unit=" ms" times={times} lines={[
        { label: 'half within', colour: '--kind-history', values: at(0.5) },
        { label: '95 % within', colour: '--kind-tools', values: at(0.95) },
      ]} />
      <Chart title="Each second" unit="" times={times} lines={[
        { label: 'requests', colour: '--kind-history', values: rate(`${REQUESTS}_count`) },
        { label: 'turns', colour: '--kind-entities', values: rate('throughline_turns_total') },
        { label: 'tool calls', colour: '--kind-tools', values: rate('throughline_tool_calls_total') },
      ]} />
      <Chart title="Look-ups" unit="" times={times} lines={[
        { label: 'made', colour: '--kind-history', values: grown((look) => stat(look, 'look_ups_made') ?? 0) },
        { label: 'spared', colour: '--kind-entities', values: grown((look) => stat(look, 'look_ups_spared') ?? 0) },
        { label: 'failed', colour: '--bad', values: grown((look) => stat(look, 'look_ups_failed') ?? 0) },
      ]} />
      <Chart title="Errors" unit="" times={times} lines={[
        { label: 'answers of 500 and more', colour: '--bad', values: grown((look) => total(look, 'throughline_http_requests_total', (labels) => labels['status']?.startsWith('5') ?? false)) },
        { label: 'models', colour: '--kind-tools', values: grown((look) => total(look, 'throughline_model_failures_total')) },
        { label: 'background work', colour: '--kind-recalled', values: grown((look) => stat(look, 'jobs_failed') ?? 0) },
      ]} />
      <Routes look={now} />
    </div>
  );
}

function Routes({ look }: { look: Look }) {
  const counted = look.samples.filter((sample) => sample.name === `${REQUESTS}_count` && !OWN.test(sample.labels['route'] ?? ''));
  const rows = counted.sort((one, two) => two.value - one.value).slice(0, ROUTES_SHOWN).map(({ labels, value }) => {
    const { method = '', route = '' } = labels;
    const seen = buckets(look.samples, REQUESTS, { method, route });
    return { name: `${method} ${route.replace(/^\/api\/v1/, '')}`, value, half: quantile(seen, 0.5), most: quantile(seen, 0.95) };
  });
  const shown = (seconds: number | null) => (seconds === null ? '–' : milliseconds(seconds * 1000));
  return (
    <section class="card">
      <h2>Routes since the start</h2>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Routes since the start">
        <table>
          <thead><tr><th scope="col">Route</th><th scope="col">Requests</th><th scope="col">Half within</th><th scope="col">95 % within</th></tr></thead>
          <tbody>{rows.map((row) => <tr key={row.name}><th scope="row"><code>{row.name}</code></th><td>{count(row.value)}</td><td>{shown(row.half)}</td><td>{shown(row.most)}</td></tr>)}</tbody>
        </table>
      </div>
    </section>
  );
}
