// The window of one request: a bar by kind in the order of sending, and what of it a provider's cache can serve.
import type { Cost as Money, Receipt, Usage } from '../api/types';
import { labelOf } from '../text/kinds';
import { count, money, percent, tokens } from '../text/numbers';
import { stableTokens, stretches, tokensByKind } from '../text/window';
import { Icon } from './Icon';

const WIDTH = 1000;
const HEIGHT = 26;
const WARN_AT = 0.8;
const ENLARGED_BELOW = 0.25;

export function WindowBar({ receipt, usage = null, cost = null }: { receipt: Receipt; usage?: Usage | null; cost?: Money | null }) {
  const { limit_tokens: limit, used_tokens: used, share, warning } = receipt.budget;
  const parts = stretches(receipt);
  const drawn = parts.reduce((sum, part) => sum + part.tokens, 0);
  // An almost empty window is drawn enlarged, so that its parts can be told apart; the words say by how much.
  const whole = share > ENLARGED_BELOW;
  const scale = WIDTH / (whole ? limit : Math.max(drawn, 1) / 0.92);
  const stable = Math.min(stableTokens(receipt), used);
  const byKind = [...tokensByKind(receipt)].filter(([, tokens]) => tokens > 0);
  const words = `${count(used)} of ${count(limit)} tokens used, ${percent(share)}. ` +
    byKind.map(([kind, tokens]) => `${labelOf(kind)} ${count(tokens)}`).join(', ') +
    `. The first ${count(stable)} are the same as in the turn before.`;
  return (
    <figure class="window-bar" data-warning={warning}>
      <figcaption class="bar-head"><span><b>{count(used)}</b> of {count(limit)} tokens</span> <span>{percent(share)} of the window{whole ? '' : ', drawn enlarged'}</span></figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 12}`} role="img" aria-label={words} preserveAspectRatio="none">
        <rect class="bar-ground" x="0" y="0" width={WIDTH} height={HEIGHT} rx="4" />
        {parts.map((part, index) => (
          <rect key={index} class="bar-part" data-kind={part.kind} x={part.start * scale} y="0" width={Math.max(1.5, part.tokens * scale - 1.5)} height={HEIGHT}>
            <title>{`${labelOf(part.kind)}: ${tokens(part.tokens)}`}</title>
          </rect>
        ))}
        {whole && <rect class="bar-limit" x={limit * WARN_AT * scale} y="-2" width="2" height={HEIGHT + 4} />}
        {stable > 0 && <rect class="bar-stable" x="0" y={HEIGHT + 5} width={Math.min(stable, drawn) * scale} height="5" rx="2" />}
      </svg>
      <div class="bar-words">
        <span class="legend"><span>Tokens:</span>{byKind.map(([kind, tokens]) => (
          <span key={kind} data-kind={kind}><i class="swatch" />{labelOf(kind)} {count(tokens)}</span>
        ))}</span>
        <span class="stable-words"><i class="stable-mark" /><span>{stable > 0
          ? `The first ${tokens(stable)} (${percent(stable / used)}) are as in the turn before: a provider's cache can serve them.`
          : 'Nothing at the start is as in the turn before.'}{receipt.broken_by ? ` It does not begin as the request before: ${receipt.broken_by}.` : ''}</span></span>
        <Cost receipt={receipt} usage={usage} cost={cost} />
        {warning && <span class="warning"><Icon name="warning" size={14} /> {percent(share)} of the window is used: older turns will be left out or condensed.</span>}
      </div>
    </figure>
  );
}

/** What it cost, as far as it is known: effective tokens beside a plain replay, cached ones, money. */
function Cost({ receipt, usage, cost }: { receipt: Receipt; usage: Usage | null; cost: Money | null }) {
  const { effective_tokens: effective, replay_effective_tokens: replay } = receipt;
  const cached = usage?.cache_read_tokens ?? 0;
  return (
    <>
      {effective !== undefined && <span>It costs like {tokens(effective)}, cached ones counted at a tenth{replay !== undefined && replay > effective ? `; every word of the conversation again would cost like ${count(replay)}, without instructions and tools` : ''}.</span>}
      {usage && usage.input_tokens > 0 && <span>The provider counted {tokens(usage.input_tokens)}{cached > 0 ? `, ${count(cached)} from its cache` : ''}.</span>}
      {cost && <span>The turn cost {money(cost.amount, cost.currency)}{cost.saved > 0 ? `; the cache saved ${money(cost.saved, cost.currency)}` : ''}.</span>}
    </>
  );
}
