// Whether a model was shown a request, or would have been.
import type { TurnBrief } from '../api/types';

/** The words before what a request was made of. Without a model nobody was shown anything, and the summary says so. */
export function shownWords(form: TurnBrief['form'] | null): string {
  return form?.by === 'offline' ? '' : 'Shown:';
}
