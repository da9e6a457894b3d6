// Sessions: find one, open one, start one; and the way to the other places.
import { useSignal } from '@preact/signals';
import { chosenTag, moreSessions, nextCursor, refreshSessions, sessions, sessionsLoaded, withInactive } from '../state/sessions';
import { attempt } from '../state/notices';
import { Icon } from './Icon';
import { ImportButton } from './ImportButton';
import { Navigation } from './Navigation';
import { SearchResults } from './SearchResults';
import { topicWords } from '../text/topic';
import { SessionRow, titleOf } from './SessionRow';

export function Sidebar() {
  const words = useSignal('');
  const wanted = words.value.trim().toLowerCase();
  const shown = sessions.value.filter((session) =>
    [titleOf(session), topicWords(session.topic), session.id, ...session.tags].some((text) => text.toLowerCase().includes(wanted)));
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
        {sessionsLoaded.value && shown.length === 0 && <p class="quiet">{wanted ? 'No title or tag matches.' : 'No sessions yet.'}</p>}
        {nextCursor.value && <button class="button plain" onClick={() => attempt(moreSessions)}>Show more</button>}
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
