// What is remembered about you: each statement with where it came from; correct it, forget it, add one.
import { useSignal } from '@preact/signals';
import { memories, type MemoriesPage } from '../state/memories';
import { attempt, tell } from '../state/notices';
import { AddMemory } from './AddMemory';
import { MemoryRow } from './MemoryRow';
import { Page } from './Page';
import { useLoaded } from './useLoaded';
import { UserData } from './UserData';
import { Waiting } from './Waiting';

export function MemoryPage() {
  const words = useSignal('');
  const replaced = useSignal(false);
  const changed = useSignal(0);
  const loaded = useLoaded(() => memories(words.value, replaced.value), [words.value, replaced.value, changed.value]);
  const done = (said: string) => {
    changed.value += 1;
    tell(said);
  };
  return (
    <Page title="Memory" lead="Short statements that outlive their session. Each opens at the turn it came from; what you forget here is told to no model again.">
      <AddMemory onAdded={(fresh) => done(fresh ? 'Remembered.' : 'That was remembered already.')} />
      <div class="find-memory">
        <label class="field inline"><span>Find</span><input type="search" value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} /></label>
        <label class="check"><input type="checkbox" checked={replaced.value} onChange={(event) => (replaced.value = event.currentTarget.checked)} /> Include what was replaced</label>
      </div>
      {loaded.state !== 'here' ? <Waiting loaded={loaded} />
        : loaded.value.memories.length === 0 ? <p class="quiet">{words.value ? 'Nothing like that is remembered.' : 'Nothing is remembered yet. Say "remember that …" in a conversation, or write it above.'}</p>
        : <MemoryRows key={`${words.value}/${replaced.value}/${changed.value}`} words={words.value} replaced={replaced.value} first={loaded.value} onDone={done} />}
      <section class="card">
        <h2>Switching it off</h2>
        <p class="quiet">For one session: <em>Do not remember this session</em> in its menu. For an agent: <code>memory = "off"</code> in its <code>agent.toml</code>, or <code>"session"</code> for what was said in the same session alone.</p>
      </section>
      <UserData onErased={() => (changed.value += 1)} />
    </Page>
  );
}

/** What was found, a page at a time. */
function MemoryRows({ words, replaced, first, onDone }: { words: string; replaced: boolean; first: MemoriesPage; onDone: (said: string) => void }) {
  const pages = useSignal([first]);
  const shown = pages.value[0] === first ? pages.value : [first];
  const cursor = shown.at(-1)!.next_cursor;
  const more = () => attempt(async () => {
    pages.value = [...shown, await memories(words, replaced, cursor)];
  });
  return (
    <>
      <ul class="card rows">{shown.flatMap((page) => page.memories).map((memory) => <li key={memory.id}><MemoryRow memory={memory} onDone={onDone} /></li>)}</ul>
      {cursor && <button class="button plain" onClick={more}>Show more</button>}
    </>
  );
}
