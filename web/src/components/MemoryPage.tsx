// What is remembered about you: each statement with where it came from; correct it, forget it, add one.
import { useSignal } from '@preact/signals';
import type { Memory } from '../api/types';
import { addMemory, changeMemory, memories, type MemoriesPage } from '../state/memories';
import { attempt, tell } from '../state/notices';
import { addressOf } from '../state/route';
import { ago, moment } from '../text/numbers';
import { ForgetDialog } from './ForgetDialog';
import { Page } from './Page';
import { useLoaded } from './useLoaded';
import { UserData } from './UserData';
import { Waiting } from './Waiting';

/** What a memory without a turn comes from, by its trust. */
const ORIGINS: Record<string, string> = { told: 'added by hand', model: 'remembered by a model', imported: 'imported' };

export function MemoryPage() {
  const words = useSignal('');
  const changed = useSignal(0);
  const loaded = useLoaded(() => memories(words.value), [words.value, changed.value]);
  const done = (said: string) => {
    changed.value += 1;
    tell(said);
  };
  return (
    <Page title="Memory" lead="Short statements that outlive their session. Each opens at the turn it came from; what you forget here is told to no model again.">
      <AddMemory onAdded={() => done('Remembered.')} />
      <label class="field inline"><span>Find</span><input type="search" value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} /></label>
      {loaded.state !== 'here' ? <Waiting loaded={loaded} />
        : loaded.value.memories.length === 0 ? <p class="quiet">{words.value ? 'Nothing like that is remembered.' : 'Nothing is remembered yet. Say "remember that …" in a conversation, or write it above.'}</p>
        : <MemoryRows key={`${words.value}/${changed.value}`} words={words.value} first={loaded.value} onDone={done} />}
      <UserData onErased={() => (changed.value += 1)} />
    </Page>
  );
}

/** What was found, a page at a time. */
function MemoryRows({ words, first, onDone }: { words: string; first: MemoriesPage; onDone: (said: string) => void }) {
  const pages = useSignal([first]);
  const shown = pages.value[0] === first ? pages.value : [first];
  const cursor = shown.at(-1)!.next_cursor;
  const more = () => attempt(async () => {
    pages.value = [...shown, await memories(words, cursor)];
  });
  return (
    <>
      <ul class="card rows">{shown.flatMap((page) => page.memories).map((memory) => <li key={memory.id}><MemoryRow memory={memory} onDone={onDone} /></li>)}</ul>
      {cursor && <button class="button plain" onClick={more}>Show more</button>}
    </>
  );
}

function AddMemory({ onAdded }: { onAdded: () => void }) {
  const text = useSignal('');
  return (
    <form class="add-memory" onSubmit={(event) => {
      event.preventDefault();
      const wanted = text.value.trim();
      if (wanted) void attempt(() => addMemory(wanted)).then((added) => { if (added) { text.value = ''; onAdded(); } });
    }}>
      <label class="field"><span>Remember that</span><input value={text.value} maxLength={2000} placeholder="our site code for Lisbon is LIS2" onInput={(event) => (text.value = event.currentTarget.value)} /></label>
      <button class="button primary" disabled={!text.value.trim()}>Remember</button>
    </form>
  );
}

function MemoryRow({ memory, onDone }: { memory: Memory; onDone: (said: string) => void }) {
  const editing = useSignal<string | null>(null);
  const forgetting = useSignal(false);
  const { source } = memory;
  const save = () => attempt(async () => {
    await changeMemory(memory.id, editing.value!.trim());
    editing.value = null;
    onDone('Corrected.');
  });
  return (
    <div class="memory" data-superseded={Boolean(memory.superseded_by)}>
      {editing.value === null
        ? <p>{memory.text} {memory.kind && <span class="badge">{memory.kind}</span>} {memory.superseded_by && <span class="badge">replaced by a newer one</span>}</p>
        : (
          <form onSubmit={(event) => { event.preventDefault(); void save(); }}>
            <input aria-label="Correct it" value={editing.value} ref={(element) => element?.focus()} onInput={(event) => (editing.value = event.currentTarget.value)}
              onKeyDown={(event) => { if (event.key === 'Escape') editing.value = null; }} />
          </form>
        )}
      <p class="quiet">
        {source?.session ? <a href={addressOf(source.session, source.turn)}>from turn {source.turn}</a> : ORIGINS[memory.trust ?? 'told'] ?? 'added by hand'}
        {memory.created_at && <> · <time dateTime={memory.created_at} title={moment(memory.created_at)}>{ago(memory.created_at)}</time></>}
        {' · '}{memory.last_used_at ? `last used ${ago(memory.last_used_at)}` : 'not used yet'}
      </p>
      <div class="actions start">
        {editing.value === null
          ? <button class="button small" onClick={() => (editing.value = memory.text)}>Correct</button>
          : <><button class="button small primary" disabled={!editing.value.trim()} onClick={save}>Save</button><button class="button small" onClick={() => (editing.value = null)}>Cancel</button></>}
        <button class="button small danger-text" onClick={() => (forgetting.value = true)}>Forget</button>
      </div>
      {forgetting.value && <ForgetDialog memory={memory} onClose={() => (forgetting.value = false)} onForgotten={onDone} />}
    </div>
  );
}
