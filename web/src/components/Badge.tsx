// How an item came in: in every session, added by hand, or because it matches the message.
import type { IncludeMode } from '../api/types';
import { percent } from '../text/numbers';

const WORDS: Record<IncludeMode, [string, string]> = {
  always: ['always', 'In every session of this agent'],
  manual: ['added by hand', 'Somebody added it to this session'],
  agent: ['when it fits', 'In a request whose message it matches'],
};

export function Badge({ mode, score }: { mode: IncludeMode; score?: number | null }) {
  const [word, title] = WORDS[mode];
  const matched = typeof score === 'number';
  return <span class="badge" data-mode={mode} title={matched ? 'How well it matches the message' : title}>{matched ? `${percent(score)} match` : word}</span>;
}
