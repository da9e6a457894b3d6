// One session in the list.
import type { Conversation } from '../api/types';
import { addressOf, openId } from '../state/route';
import { ago, counted } from '../text/numbers';
import { topicWords } from '../text/topic';

export function titleOf(session: Conversation): string {
  return session.title || topicWords(session.topic) || `Session ${session.id.slice(0, 8)}`;
}

const DAY_MS = 86_400_000;

/** A day before a session expires its row says so. */
function expiresSoon(session: Conversation): boolean {
  return session.active && session.expires_at !== null && Date.parse(session.expires_at) - Date.now() < DAY_MS;
}

export function SessionRow({ session }: { session: Conversation }) {
  const open = openId.value === session.id;
  return (
    <a class="session" href={addressOf(session.id)} aria-current={open ? 'page' : undefined} data-active={session.active}>
      <span class="title">{titleOf(session)}</span>
      <span class="about">
        {!session.active && <span class="state">{session.deleted_at ? 'archived' : 'expired'}</span>}
        {session.awaiting_approval.length > 0 && <span class="state warn">waits for you</span>}
        {expiresSoon(session) && <span class="state warn">expires {ago(session.expires_at!)}</span>}
        {session.forked_from && <span class="state">fork</span>}
        <span>{counted(session.turns, 'turn')}</span>
        <span>{ago(session.last_activity)}</span>
        {session.tags.map((tag) => <span key={tag} class="tag">{tag}</span>)}
      </span>
    </a>
  );
}
