// One session in the list.
import type { Conversation } from '../api/types';
import { nameOf } from '../state/sessions';
import { addressOf, openId } from '../state/route';
import { ago, counted } from '../text/numbers';

const DAY_MS = 86_400_000;

/** A day before a session expires its row says so. */
function expiresSoon(session: Conversation): boolean {
  return session.active && session.expires_at !== null && Date.parse(session.expires_at) - Date.now() < DAY_MS;
}

export function SessionRow({ session }: { session: Conversation }) {
  const open = openId.value === session.id;
  return (
    <a class="session" href={addressOf(session.id)} aria-current={open ? 'page' : undefined} data-active={session.active}>
      <span class="title">{nameOf(session)}</span>
      <span class="about">
        {!session.active && <span class="state">{session.deleted_at ? 'archived' : 'expired'}</span>}
        {session.awaiting_approval.length > 0 && <span class="state warn">waits for you</span>}
        {expiresSoon(session) && <span class="state warn">expires {ago(session.expires_at!)}</span>}
        {session.forked_from && <span class="state">fork</span>}
        {session.settings.private && <span class="state">not remembered</span>}
        <span>{counted(session.turns, 'turn')}</span>
        <span>{ago(session.last_activity)}</span>
        {session.tags.map((tag) => <span key={tag} class="tag">{tag}</span>)}
      </span>
    </a>
  );
}
