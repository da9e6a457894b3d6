// What a visitor sees of a shared conversation: what was said, and nothing else of this server.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Problem } from '../api/client';
import type { SharedConversation, SharedTurn } from '../api/types';
import { sentence } from '../state/notices';
import { shared } from '../state/shares';
import { ago, counted, moment } from '../text/numbers';
import { Icon } from './Icon';
import { Markdown } from './Markdown';
import { Notices } from './Notices';
import { Said } from './Said';

export function SharedPage({ token }: { token: string }) {
  const shown = useSignal<SharedConversation | null>(null);
  const problem = useSignal<Problem | null>(null);
  const load = async () => {
    try {
      const before = shown.value;
      const next = await shared(token, before?.next_cursor ?? null);
      shown.value = { ...next, turns: [...(before?.turns ?? []), ...next.turns] };
      document.title = next.title ?? 'Shared conversation';
    } catch (error) {
      problem.value = Problem.from(error);
    }
  };
  useEffect(() => {
    shown.value = null;
    problem.value = null;
    void load();
  }, [token]);
  return (
    <main id="main" class="shared" tabIndex={0}>
      {problem.value ? <Closed problem={problem.value} /> : shown.value ? <Opened shown={shown.value} onMore={load} /> : <p class="quiet" aria-busy="true">Loading…</p>}
      <Notices />
    </main>
  );
}

function Closed({ problem }: { problem: Problem }) {
  const gone = problem.code === 'no_share';
  return (
    <div class="empty">
      <h1>{gone ? 'This link opens nothing' : 'The conversation cannot be shown'}</h1>
      <p class="lead">{gone ? 'It has expired, was revoked, or is not complete. Ask whoever sent it for a new one.' : `${sentence(problem.message)}. ${sentence(problem.hint)}.`}</p>
    </div>
  );
}

function Opened({ shown, onMore }: { shown: SharedConversation; onMore: () => void }) {
  return (
    <div class="shared-body">
      <header>
        <h1>{shown.title ?? 'Shared conversation'}</h1>
        <p class="quiet">Read-only: {counted(shown.up_to_turn, 'turn')}, shared {ago(shown.shared_at)}. The link expires {ago(shown.expires_at)}, on <time dateTime={shown.expires_at}>{moment(shown.expires_at)}</time>.</p>
      </header>
      {shown.turns.map((turn) => <article key={turn.turn} class="row" aria-label={`Turn ${turn.turn}`}><Told turn={turn} /></article>)}
      {shown.next_cursor && <button class="button" onClick={onMore}>Show more</button>}
    </div>
  );
}

function Told({ turn }: { turn: SharedTurn }) {
  return (
    <div class="turn" data-status={turn.status}>
      {turn.message && <Said text={turn.message} attachments={[]} />}
      {turn.tools_used.length > 0 && <p class="status"><Icon name="tool" size={15} /> {turn.tools_used.join(', ')}</p>}
      {turn.reply && <Markdown text={turn.reply} />}
      <Whole turn={turn} />
    </div>
  );
}

/** Whether the reply is all there is, and the model's. */
function Whole({ turn: { status, reply } }: { turn: SharedTurn }) {
  if (status === 'partial') return <p class="status">{reply ? 'This reply is not whole.' : 'It was stopped before anything was said.'}</p>;
  if (status === 'failed') return <p class="status">{reply ? 'The model failed; this was answered without it.' : 'This turn failed.'}</p>;
  return reply ? null : <p class="status">There was no reply.</p>;
}
