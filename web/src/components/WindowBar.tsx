// The window of one request: a bar by kind in the order of sending, the stable prefix marked under it.
import type { Receipt } from '../api/types';
import { labelOf } from '../text/kinds';
import { count, percent } from '../text/numbers';
import { stretches, tokensByKind } from '../text/window';
import { Icon } from './Icon';

const WIDTH = 1000;
const HEIGHT = 26;
const WARN_AT = 0.8;
const ENLARGED_BELOW = 0.25;

export function WindowBar({ receipt }: { receipt: Receipt }) {
  const { limit_tokens: limit, used_tokens: used, share, warning } = receipt.budget;
  const parts = stretches(receipt);
  const drawn = parts.reduce((sum, part) => sum + part.tokens, 0);
  // An almost empty window is drawn enlarged, so that its parts can be told apart; the words say by how much.
  const whole = share > ENLARGED_BELOW;
  const scale = WIDTH / (whole ? limit : Math.max(drawn, 1) / 0.92);
  const stable = Math.min(receipt.stable_prefix_tokens, drawn);
  const byKind = [...tokensByKind(receipt)].filter(([, tokens]) => tokens > 0);
  const words = `${count(used)} of ${count(limit)} tokens used, ${percent(share)}. ` +
    byKind.map(([kind, tokens]) => `${labelOf(kind)} ${count(tokens)}`).join(', ') +
    `. The first ${count(stable)} are the same as in the turn before.`;
  return (
    <figure class="window-bar" data-warning={warning}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 12}`} role="img" aria-label={words} preserveAspectRatio="none">
        <rect class="bar-ground" x="0" y="0" width={WIDTH} height={HEIGHT} rx="4" />
        {parts.map((part, index) => (
          <rect key={index} class="bar-part" data-kind={part.kind} x={part.start * scale} y="0" width={Math.max(1.5, part.tokens * scale - 1.5)} height={HEIGHT}>
            <title>{`${labelOf(part.kind)}: ${count(part.tokens)} tokens`}</title>
          </rect>
        ))}
        {whole && <rect class="bar-limit" x={limit * WARN_AT * scale} y="-2" width="2" height={HEIGHT + 4} />}
        {stable > 0 && <rect class="bar-stable" x="0" y={HEIGHT + 5} width={stable * scale} height="5" rx="2" />}
      </svg>
      <figcaption>
        <span>{count(used)} of {count(limit)} tokens, {percent(share)}{whole ? '' : '; drawn enlarged'}</span>
        <span class="legend">{byKind.map(([kind, tokens]) => (
          <span key={kind} data-kind={kind}><i class="swatch" />{labelOf(kind)} {count(tokens)}</span>
        ))}</span>
        <span class="stable-words"><i class="stable-mark" />{stable > 0
          ? `${count(stable)} tokens (${percent(drawn ? stable / drawn : 0)}) at the start as in the turn before: a provider's cache can serve them`
          : 'nothing at the start is the same as in the turn before'}</span>
        {warning && <span class="warning"><Icon name="warning" size={14} /> {percent(share)} of the window is used: older turns will be left out or condensed</span>}
      </figcaption>
    </figure>
  );
}
