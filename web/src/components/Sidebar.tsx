// Sessions: find one, open one, start one; and the way to the other places.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { chosenTag, moreSessions, nameOf, nextCursor, PAGE, refreshSessions, sessions, sessionsLoaded, withInactive } from '../state/sessions';
import { attempt } from '../state/notices';
import { Icon } from './Icon';
import { ImportButton } from './ImportButton';
import { Navigation } from './Navigation';
import { SearchResults } from './SearchResults';
import { topicWords } from '../text/topic';
import { SessionRow } from './SessionRow';

/** Sessions a request, where all are looked through. */
const SEARCHED = 100;

export function Sidebar() {
  const words = useSignal('');
  const wanted = words.value.trim().toLowerCase();
  const rows = useSignal(PAGE);
  const found = sessions.value.filter((session) =>
    [nameOf(session), topicWords(session.topic), session.id, ...session.tags].some((text) => text.toLowerCase().includes(wanted)));
  const shown = found.slice(0, rows.value);
  // All of them are searched: those that are not here yet are fetched, a page after the other.
  const searching = wanted !== '' && nextCursor.value !== null;
  useEffect(() => {
    if (searching) void attempt(() => moreSessions(SEARCHED));
  }, [searching, nextCursor.value]);
  const more = async () => {
    rows.value += PAGE;
    if (found.length < rows.value) await moreSessions();
  };
  const tags = [...new Set(sessions.value.flatMap((session) => session.tags))].sort();
  return (
    <aside class="side" aria-label="Sessions">
      <div class="brand">
        <a href="#/" class="name"><img src="/icon.svg" alt="" width="26" height="26" /> Throughline</a>
        <a class="button primary small" href="#/" title="New session (n)"><Icon name="plus" size={16} /> New</a>
      </div>
      <div class="find">
        <Icon name="search" size={16} />
        <input type="search" id="find" placeholder="Search sessions" aria-label="Search sessions" value={words.value}
          onInput={(event) => (words.value = event.currentTarget.value)}
          onKeyDown={(event) => { if (event.key === 'Escape' && !words.value) event.currentTarget.blur(); }} />
      </div>
      {(tags.length > 0 || chosenTag.value) && (
        <div class="tag-filter" role="group" aria-label="Filter by tag">
          {(chosenTag.value && !tags.includes(chosenTag.value) ? [chosenTag.value, ...tags] : tags).map((tag) => (
            <button key={tag} class="tag" aria-pressed={chosenTag.value === tag} onClick={() => {
              chosenTag.value = chosenTag.value === tag ? null : tag;
              void attempt(refreshSessions);
            }}>{tag}</button>
          ))}
        </div>
      )}
      <nav class="sessions" aria-label="Sessions" tabIndex={-1}>
        {shown.length > 0 && (
          <ul>{shown.map((session) => <li key={session.id}><SessionRow session={session} /></li>)}</ul>
        )}
        {sessionsLoaded.value && shown.length === 0 && <p class="quiet">{searching ? 'Searching…' : wanted ? 'No title or tag matches.' : 'No sessions yet.'}</p>}
        {(found.length > shown.length || (nextCursor.value && !searching)) && <button class="button plain" onClick={() => attempt(more)}>Show more</button>}
        {wanted.length > 1 && <SearchResults words={wanted} />}
      </nav>
      <div class="side-options">
        <label class="check">
          <input type="checkbox" checked={withInactive.value} onChange={(event) => {
            withInactive.value = event.currentTarget.checked;
            void attempt(refreshSessions);
          }} /> Include archived sessions
        </label>
        <ImportButton />
      </div>
      <Navigation />
    </aside>
  );
}
