// How an item came in: Always, Manual, or Agent with its score.
import type { IncludeMode } from '../api/types';

const WORDS: Record<IncludeMode, [string, string]> = {
  always: ['Always', 'In every session of this agent'],
  manual: ['Manual', 'Added to the session by hand'],
  agent: ['Agent', 'Chosen for this message by search'],
};

export function Badge({ mode, score }: { mode: IncludeMode; score?: number | null }) {
  const [word, title] = WORDS[mode];
  return <span class="badge" data-mode={mode} title={title}>{word}{typeof score === 'number' ? ` ${score.toFixed(2)}` : ''}</span>;
}
