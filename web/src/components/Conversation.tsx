// A conversation: its head, its turns, and where the next message is written.
import { useEffect } from 'preact/hooks';
import { reconcile, sendMessage } from '../state/chat';
import { live, resume } from '../state/live';
import { sentence } from '../state/notices';
import { session, sessionProblem, turns } from '../state/session';
import { Composer } from './Composer';
import { ConversationHead } from './ConversationHead';
import { Suggestions } from './Suggestions';
import { TurnList } from './TurnList';

function closedBecause(): string | null {
  const head = session.value;
  if (!head || head.active) return null;
  return head.deleted_at ? 'This session is archived. Restore it to continue.' : 'This session has expired. Extend it to continue.';
}

export function Conversation() {
  const head = session.value;
  const waiting = head?.awaiting_approval ?? [];
  useEffect(() => {
    const now = live.value;
    const free = now === null || (now.session !== head?.id && now.state !== 'running');
    if (head && waiting.length > 0 && free) resume(head.id, head.paused, waiting);
    else if (head) void reconcile(head);
  }, [head?.id, waiting.length, live.value === null]);
  if (sessionProblem.value) {
    return (
      <div class="empty">
        <h1>{sentence(sessionProblem.value.message)}</h1>
        <p>{sentence(sessionProblem.value.hint)}</p>
        <a class="button" href="#/">Start a new session</a>
      </div>
    );
  }
  if (!head || !turns.value) return <div class="empty" aria-busy="true"><p class="quiet">Opening…</p></div>;
  return (
    <div class="conversation">
      <ConversationHead session={head} />
      <TurnList key={head.id} turns={turns.value} />
      <div class="conversation-foot">
        <Suggestions turns={turns.value} />
        <Composer key={head.id} focus session={head.id} disabled={closedBecause()} onSend={(message, attachments) => sendMessage(head.id, message, { attachments })} />
      </div>
    </div>
  );
}
