// What was said, across sessions: the server's own search, a moment after typing stops.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Problem } from '../api/client';
import type { SearchHit } from '../api/types';
import { addressOf } from '../state/route';
import { nameOf, searchSessions, sessions } from '../state/sessions';

const PAUSE_MS = 200;

export function SearchResults({ words }: { words: string }) {
  const hits = useSignal<SearchHit[] | null>(null);
  const failed = useSignal<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        hits.value = await searchSessions(words, stop.signal);
        failed.value = null;
      } catch (error) {
        const problem = Problem.from(error);
        if (problem.code !== 'stopped') failed.value = problem.message;
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [words]);
  const named = (hit: SearchHit) => {
    const session = sessions.value.find((known) => known.id === hit.session);
    return session ? nameOf(session) : hit.title || hit.session.slice(0, 8);
  };
  return (
    <section class="hits" aria-label="Found in conversations" aria-live="polite">
      <h2>In conversations</h2>
      {failed.value && <p class="quiet">{failed.value}</p>}
      {hits.value?.length === 0 && !failed.value && <p class="quiet">No results.</p>}
      {hits.value && hits.value.length > 0 && (
        <ul>
          {hits.value.map((hit) => (
            <li key={`${hit.session}/${hit.turn}/${hit.part}`}>
              <a class="hit" href={addressOf(hit.session, hit.turn || undefined)}>
                <span class="about">{named(hit)}{hit.turn ? ` · turn ${hit.turn}` : ''}</span>
                <span class="excerpt"><Marked snippet={hit.snippet} /></span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** A stretch of text with the found words marked. */
function Marked({ snippet }: { snippet: SearchHit['snippet'] }) {
  const bytes = new TextEncoder().encode(snippet.text);
  const text = (from: number, to?: number) => new TextDecoder().decode(bytes.slice(from, to));
  let from = 0;
  const parts = snippet.marks.flatMap(({ start, end }) => {
    const before = text(from, start);
    from = end;
    return [before, <mark key={start}>{text(start, end)}</mark>];
  });
  return <>{parts}{text(from)}</>;
}
