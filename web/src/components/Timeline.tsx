// The time of a turn as traces show it: one bar a stage.
import type { Receipt } from '../api/types';
import { turns } from '../state/session';
import { count, milliseconds, money, tokens } from '../text/numbers';
import { timeOf } from '../text/timeline';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';

const WIDTH = 1000;

export function Timeline({ turn, receipt }: { turn: number; receipt: Receipt }) {
  const loaded = useLoaded(() => turns.value!.whole(turn), [turns.value?.session, turn]);
  if (loaded.state !== 'here') return <Waiting loaded={loaded} />;
  const time = timeOf(loaded.value, receipt);
  const { usage, cost } = loaded.value;
  if (!time) return <p class="no-context">How long this turn took was not recorded.</p>;
  const scale = WIDTH / Math.max(1, time.total);
  return (
    <div class="timeline">
      <p class="summary"><b>{milliseconds(time.total)}</b> from your message {time.measured ? 'until the turn was stored' : 'to the end of the reply'}.</p>
      <ol>
        {time.spans.map((span, index) => (
          <li key={index} data-span={span.kind}>
            <span class="span-label">{span.label}</span> <span class="tokens">{milliseconds(span.took)}</span>
            <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
              <rect class="bar-ground" width={WIDTH} height="10" rx="3" />
              <rect class="span-bar" x={span.start * scale} width={Math.max(4, span.took * scale)} height="10" rx="3" />
            </svg>
          </li>
        ))}
      </ol>
      {!time.measured && <p class="quiet">Tool calls and the whole are measured; the rest is what remains between them.</p>}
      {usage && (
        <p class="quiet">The provider counted {tokens(usage.input_tokens)} in{usage.cache_read_tokens ? `, ${count(usage.cache_read_tokens)} of them from its cache` : ''}, and {tokens(usage.output_tokens)} out
          {cost ? `: ${money(cost.amount, cost.currency)}${cost.saved > 0 ? `, and the cache saved ${money(cost.saved, cost.currency)}` : ''}` : ''}.</p>
      )}
    </div>
  );
}
