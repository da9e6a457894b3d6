// How long requests take and how many there are, between one look and the next; and the routes so far.
import { total, type Look } from '../state/operations';
import { buckets, quantile, since } from '../text/histogram';
import { count, milliseconds } from '../text/numbers';
import { Chart } from './Chart';

const REQUESTS = 'throughline_http_request_seconds';
const ROUTES_SHOWN = 12;

export function LatencyCharts({ looks }: { looks: Look[] }) {
  const now = looks.at(-1)!;
  if (buckets(now.samples, REQUESTS).length === 0) return null;
  if (looks.length < 2) return <div class="charts"><p class="quiet" aria-busy="true">Taking a second look to draw from…</p><Routes look={now} /></div>;
  const times = looks.map((look) => look.at);
  const between = (value: (look: Look, before: Look) => number | null) => looks.map((look, index) => (index === 0 ? null : value(look, looks[index - 1]!)));
  const at = (share: number) => between((look, before) => {
    const seconds = quantile(since(buckets(look.samples, REQUESTS), buckets(before.samples, REQUESTS)), share);
    return seconds === null ? null : seconds * 1000;
  });
  const rate = (name: string) => between((look, before) => Math.max(0, (total(look, name) - total(before, name)) / (look.at - before.at)));
  return (
    <div class="charts">
      <Chart title="Request time" unit=" ms" times={times} lines={[
        { label: 'half within', colour: '--kind-history', values: at(0.5) },
        { label: '95 % within', colour: '--kind-tools', values: at(0.95) },
      ]} />
      <Chart title="A second" unit="" times={times} lines={[
        { label: 'requests', colour: '--kind-history', values: rate(`${REQUESTS}_count`) },
        { label: 'turns', colour: '--kind-entities', values: rate('throughline_turns_total') },
        { label: 'tool calls', colour: '--kind-tools', values: rate('throughline_tool_calls_total') },
      ]} />
      <Routes look={now} />
    </div>
  );
}

function Routes({ look }: { look: Look }) {
  const counted = look.samples.filter((sample) => sample.name === `${REQUESTS}_count`);
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
