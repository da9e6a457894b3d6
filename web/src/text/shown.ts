// Whether a model was shown a request, or would have been.
import type { TurnBrief } from '../api/types';

/** The words before what a request was made of. Without a model nobody was shown anything; a provider that failed was sent it. */
export function shownWords(turn: Pick<TurnBrief, 'form' | 'error'> | null): string {
  if (turn?.form.by !== 'offline') return 'Shown:';
  return turn.error?.code === 'model_failed' ? 'Sent:' : 'Would be shown:';
}

/** The summary of a request without the words that stand before it here. */
export const shownSummary = (summary: string) => summary.replace(/^no model was asked; it would be sent: /, '');
