// A statement that is written by hand, and of which kind it is.
import { useSignal } from '@preact/signals';
import type { MemoryKind } from '../api/types';
import { addMemory, bytesOf, TEXT_BYTES_MAX } from '../state/memories';
import { once } from '../state/notices';
import { count } from '../text/numbers';

export const KINDS: Record<MemoryKind, string> = {
  instruction: 'instruction: how to answer, in every request',
  profile: 'profile: who you are, in every request',
  preference: 'preference: what you like, where it fits',
  fact: 'fact: in requests that it fits',
};

export function AddMemory({ onAdded }: { onAdded: (fresh: boolean) => void }) {
  const text = useSignal('');
  const kind = useSignal<MemoryKind | ''>('');
  const wanted = text.value.trim();
  const beyond = bytesOf(wanted) - TEXT_BYTES_MAX;
  return (
    <form class="add-memory" onSubmit={(event) => {
      event.preventDefault();
      if (!wanted || beyond > 0) return;
      void once(`remember ${wanted}`, async () => {
        const fresh = await addMemory(wanted, kind.value || null);
        text.value = '';
        kind.value = '';
        onAdded(fresh);
      });
    }}>
      <label class="field"><span>Remember that</span><input value={text.value} aria-invalid={beyond > 0} placeholder="our site code for Lisbon is LIS2" onInput={(event) => (text.value = event.currentTarget.value)} /></label>
      <label class="field"><span>Kind</span>
        <select value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value as MemoryKind | '')}>
          <option value="">as its words say</option>
          {Object.entries(KINDS).map(([name, words]) => <option key={name} value={name}>{words}</option>)}
        </select>
      </label>
      <button class="button primary" disabled={!wanted || beyond > 0}>Remember</button>
      {beyond > 0 && <p class="wrong" role="alert">A statement has at most {count(TEXT_BYTES_MAX)} bytes; this is {count(beyond)} too long. Put longer texts into a reference of an agent.</p>}
    </form>
  );
}
