// What stands in for something that is not here yet, or could not be had.
import { sentence } from '../state/notices';
import type { Loaded } from './useLoaded';

export function Waiting({ loaded }: { loaded: Loaded<unknown> }) {
  if (loaded.state === 'failed') {
    return (
      <div class="failure" role="alert">
        <p>{sentence(loaded.problem.message)}</p>
        {loaded.problem.hint && <p class="quiet">{sentence(loaded.problem.hint)}</p>}
      </div>
    );
  }
  return <p class="quiet" aria-busy="true">Loading…</p>;
}
