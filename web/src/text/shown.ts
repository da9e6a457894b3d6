// Whether a model was shown a request, or would have been.
import type { TurnBrief } from '../api/types';

/** The words before what a request was made of. Without a model nobody was shown anything. */
export function shownWords(form: TurnBrief['form'] | null): string {
  return form?.by === 'offline' ? 'Would be shown:' : 'Shown:';
}

/** The summary of a request without the words that stand before it here. */
export const shownSummary = (summary: string) => summary.replace(/^no model was asked; it would be sent: /, '');
