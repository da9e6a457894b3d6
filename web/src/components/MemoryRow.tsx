// One statement that is remembered: where it came from, what it said before; correct it, forget it.
import { useSignal } from '@preact/signals';
import type { Memory, MemoryKind } from '../api/types';
import { bytesOf, changeMemory, earlierOf, TEXT_BYTES_MAX } from '../state/memories';
import { attempt } from '../state/notices';
import { addressOf } from '../state/route';
import { ago, moment } from '../text/numbers';
import { KINDS } from './AddMemory';
import { ForgetDialog } from './ForgetDialog';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';

/** What a memory without a turn comes from, by its trust. */
const ORIGINS: Record<string, string> = { told: 'added by hand', model: 'remembered by a model', imported: 'imported' };

export function MemoryRow({ memory, onDone }: { memory: Memory; onDone: (said: string) => void }) {
  const editing = useSignal(false);
  const forgetting = useSignal(false);
  const looking = useSignal(false);
  const { source } = memory;
  return (
    <div class="memory" data-superseded={Boolean(memory.superseded_by)}>
      {!editing.value
        ? <p>{memory.text} {memory.kind && <span class="badge">{memory.kind}</span>} {memory.superseded_by && <span class="badge">replaced by a newer one</span>}</p>
        : <Correct memory={memory} onClose={() => (editing.value = false)} onDone={onDone} />}
      <p class="quiet">
        {source?.session ? <a href={addressOf(source.session, source.turn)}>from turn {source.turn}</a> : ORIGINS[memory.trust ?? 'told'] ?? 'added by hand'}
        {memory.created_at && <> · <time dateTime={memory.created_at} title={moment(memory.created_at)}>{ago(memory.created_at)}</time></>}
        {' · '}{memory.last_used_at ? `last used ${ago(memory.last_used_at)}` : 'not used yet'}
      </p>
      {looking.value && <Earlier memory={memory} />}
      {!editing.value && (
        <div class="actions start">
          {!memory.superseded_by && <button class="button small" onClick={() => (editing.value = true)}>Correct</button>}
          <button class="button small" aria-expanded={looking.value} onClick={() => (looking.value = !looking.value)}>History</button>
          <button class="button small danger-text" onClick={() => (forgetting.value = true)}>Forget</button>
        </div>
      )}
      {forgetting.value && <ForgetDialog memory={memory} onClose={() => (forgetting.value = false)} onForgotten={onDone} />}
    </div>
  );
}

function Correct({ memory, onClose, onDone }: { memory: Memory; onClose: () => void; onDone: (said: string) => void }) {
  const text = useSignal(memory.text);
  const kind = useSignal<MemoryKind>(memory.kind ?? 'fact');
  const long = bytesOf(text.value.trim()) > TEXT_BYTES_MAX;
  const save = () => attempt(async () => {
    await changeMemory(memory.id, text.value.trim(), kind.value);
    onClose();
    onDone('Corrected.');
  });
  return (
    <form class="correct-memory" onSubmit={(event) => { event.preventDefault(); if (text.value.trim() && !long) void save(); }}
      onKeyDown={(event) => { if (event.key === 'Escape') onClose(); }}>
      <input aria-label="Correct it" value={text.value} ref={(element) => { if (element && !element.closest('form')!.contains(document.activeElement)) element.focus(); }}
        aria-invalid={long} onInput={(event) => (text.value = event.currentTarget.value)} />
      <select aria-label="Kind" value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value as MemoryKind)}>
        {Object.entries(KINDS).map(([name, words]) => <option key={name} value={name}>{words}</option>)}
      </select>
      {long && <p class="wrong" role="alert">A statement has at most {TEXT_BYTES_MAX} bytes.</p>}
      <div class="actions start">
        <button class="button small primary" disabled={!text.value.trim() || long}>Save</button>
        <button type="button" class="button small" onClick={onClose}>Cancel</button>
      </div>
    </form>
  );
}

/** What it said before it was corrected, or before a newer statement took its place. */
function Earlier({ memory }: { memory: Memory }) {
  const loaded = useLoaded(() => earlierOf(memory), [memory.id, memory.text]);
  if (loaded.state !== 'here') return <Waiting loaded={loaded} />;
  if (loaded.value.length === 0) return <p class="quiet">It has always said this.</p>;
  return (
    <ul class="earlier" aria-label="Earlier">
      {loaded.value.map((version, index) => (
        <li key={index}>{version.text} {version.kind && version.kind !== memory.kind && <span class="badge">{version.kind}</span>}{' '}
          <span class="quiet">{version.source ? <a href={addressOf(version.source.session, version.source.turn)}>from turn {version.source.turn}</a> : 'by hand'}{version.changed_at && <>, <time dateTime={version.changed_at} title={moment(version.changed_at)}>{ago(version.changed_at)}</time></>}</span></li>
      ))}
    </ul>
  );
}
