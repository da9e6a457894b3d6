// Whether a model was shown a request, or would have been.
import type { TurnBrief } from '../api/types';

/** The words before what a request was made of. Without a model nobody was shown anything; a provider that failed was sent it. */
export function shownWords(turn: Pick<TurnBrief, 'no_model' | 'status' | 'error'> | null): string {
  if (turn?.no_model) return 'Would be shown:';
  return turn?.status === 'failed' && turn.error?.code === 'model_failed' ? 'Sent:' : 'Shown:';
}

/** The same for a turn under way. */
export const liveShownWords = (context: { no_model: boolean }) => (context.no_model ? 'Would be shown:' : 'Shown:');
