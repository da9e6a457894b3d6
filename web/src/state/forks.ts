// Another answer to a message, or another message: history is never changed, so both are forks.
import type { Conversation, TurnBrief } from '../api/types';
import { attachedTo } from './attached';
import { sendMessage } from './chat';
import { once, tell } from './notices';
import { addressOf, go } from './route';
import { show } from './session';
import { forkSession, refreshSessions, sessions } from './sessions';

/** Forks before a turn and sends a message there: the turn's own, or an edited one. */
export function sayAgain(session: string, turn: TurnBrief, message = turn.message): Promise<boolean> {
  return once(`fork ${session} ${turn.turn} ${message}`, async () => {
    const attachments = await attachedTo(session, turn);
    const forked = await forkSession(session, turn.turn - 1);
    show(forked);
    go(addressOf(forked.id));
    const kept = turn.turn === 1 ? 'The original stays as it is.' : `It begins with the first ${turn.turn - 1 === 1 ? 'turn' : `${turn.turn - 1} turns`}; the original stays as it is.`;
    tell(`This is a fork. ${kept}`);
    void refreshSessions().catch(() => undefined);
    void sendMessage(forked.id, message, { attachments });
  });
}

/** Forks a session after a turn. */
export function forkAfter(session: string, turn: number): Promise<boolean> {
  return once(`fork ${session} ${turn}`, async () => {
    const forked = await forkSession(session, turn);
    await refreshSessions();
    go(addressOf(forked.id));
    tell(`A new session with the first ${turn} turns.`);
  });
}

export interface Version {
  label: string;
  address: string;
}

/** Where the same turn was answered otherwise: in what this was forked from, and in forks of it that are in the list. */
export function otherVersions(session: Conversation, turn: number): Version[] {
  const found: Version[] = [];
  const from = session.forked_from;
  if (from && from.turn === turn - 1) found.push({ label: 'original', address: addressOf(from.session, turn) });
  const origin = from && from.turn === turn - 1 ? from.session : session.id;
  const forks = sessions.value.filter((other) => other.id !== session.id && other.forked_from?.session === origin && other.forked_from.turn === turn - 1 && other.turns >= turn);
  forks.forEach((other, index) => found.push({ label: forks.length > 1 ? `fork ${index + 1}` : 'fork', address: addressOf(other.id, turn) }));
  return found;
}
