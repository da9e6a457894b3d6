// What happens to the open session elsewhere: in another tab, in the terminal, in another program. While somebody looks, its
// version is asked for every few seconds, and the session is read again when it is a newer one.
import { API, at, get, Problem, send } from '../api/client';
import type { Conversation } from '../api/types';
import { reachable } from './connection';
import { entitiesChanged } from './entities';
import { live, resume } from './live';
import { session, sessionProblem, turns } from './session';
import { refreshSessions, replace, sessions, PAGE } from './sessions';

const EVERY_MS = 4000;

/** Its own turn is followed by its stream. */
const busy = (id: string) => live.peek()?.session === id && live.peek()?.state === 'running';

/** The version of the session on the server: the tag of an answer without a body. */
async function versionOf(id: string): Promise<number> {
  const answer = await send(API + at('conversations', id), { method: 'HEAD' });
  return Number(answer.headers.get('etag')?.replaceAll('"', ''));
}

/** Looks whether the open session has changed, and shows it if so. */
async function look() {
  const shown = session.peek();
  if (!shown || document.hidden || !reachable.peek() || busy(shown.id)) return;
  try {
    if ((await versionOf(shown.id)) === shown.version) return;
    await lookAgain();
    await refreshSessions();
  } catch (error) {
    const problem = Problem.from(error);
    if (problem.status === 404 && session.peek()?.id === shown.id) sessionProblem.value = await reason(shown.id, problem);
  }
}

/** Why a session is gone, in the server's words: an answer without a body has none. */
const reason = (id: string, otherwise: Problem) => get(at('conversations', id)).then(() => null, (error) => (error instanceof Problem ? error : otherwise));

/** Reads the open session and shows what it is now: new turns, and calls that wait or no longer do. */
export async function lookAgain() {
  const id = session.peek()?.id;
  if (!id) return;
  const head = await get<Conversation>(at('conversations', id));
  const shown = session.peek();
  if (shown?.id !== id || head.version < shown.version) return;
  if (busy(id)) return;
  if (live.peek()?.session === id && live.peek()?.state === 'waiting') showWaiting(head);
  session.value = head;
  replace(head);
  const here = turns.peek();
  if (here?.session === id && live.peek()?.session !== id && head.turns > here.total.peek()) {
    here.total.value = head.turns;
    entitiesChanged.value += 1;
  }
}

/** The calls of a head that wait, in place of those that are shown. */
function showWaiting(head: Conversation) {
  const waiting = head.awaiting_approval.filter((call) => typeof call.approved !== 'boolean').map(({ id }) => id).join();
  const shown = live.peek()!.calls.filter((call) => call.state === 'waiting').map(({ id }) => id).join();
  if (waiting === shown) return;
  live.value = null;
  if (waiting) resume(head.id, head.paused, head.awaiting_approval);
}

/** Looks now and then while the page is looked at, and at once when somebody comes back to it. */
export function watchElsewhere() {
  const back = () => {
    void look();
    // Not where further pages are shown, which would fold.
    if (!document.hidden && reachable.peek() && sessions.peek().length <= PAGE) void refreshSessions().catch(() => undefined);
  };
  const timer = setInterval(look, EVERY_MS);
  addEventListener('focus', back);
  document.addEventListener('visibilitychange', back);
  return () => {
    clearInterval(timer);
    removeEventListener('focus', back);
    document.removeEventListener('visibilitychange', back);
  };
}
