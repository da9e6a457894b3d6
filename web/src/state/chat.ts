// Sending a message and following its turn; stopping it; deciding calls that wait.
//
// Invariant: a message leaves the outbox only when the server has stored its turn, or the reader gives it up.
import { API, at, get, Problem, query, send } from '../api/client';
import { freshKey, freshSessionId } from '../api/id';
import { events, type SentEvent } from '../api/sse';
import type { AwaitedCall, ContextBrief, Conversation, TurnBrief, Usage } from '../api/types';
import { silent } from './connection';
import { filesOf, write } from './drafts';
import { noteLeft } from './left';
import { addCall, addText, begin, live, showText, showUnsent, update, updateCall, waitingCall } from './live';
import { complain, tell } from './notices';
import { isAllowed, withdraw } from './permissions';
import { outbox, put, take, type Outgoing } from './outbox';
import { addressOf, go } from './route';
import { refreshSession, session, show, turns } from './session';
import { lookAgain } from './elsewhere';
import { createSession, refreshSessions, type NewSession } from './sessions';
import { entitiesChanged } from './entities';
import type { Attachment } from '../text/file';

let stopping: AbortController | null = null;

export interface SendOptions {
  attachments?: Attachment[];
  /** Answer from tools and from what was said, although a model is configured. */
  withoutModel?: boolean;
}

export function sendMessage(id: string, message: string, options: SendOptions = {}): Promise<void> {
  return sendOut({
    session: id, message, attachments: options.attachments ?? [], key: freshKey(), turnsBefore: session.peek()?.turns ?? 0,
    wanted: null, withoutModel: options.withoutModel ?? false,
  });
}

/** Makes a session and sends its first message. */
export function startSession(wanted: NewSession, message: string, options: SendOptions = {}): Promise<void> {
  return sendOut({
    session: freshSessionId(), message, attachments: options.attachments ?? [], key: freshKey(), turnsBefore: 0, wanted,
  });
}

/** Sends a message, for the first time or again: its key makes sure that it becomes one turn. */
export async function sendOut(outgoing: Outgoing) {
  put(outgoing);
  begin(outgoing.session, outgoing.message, outgoing.attachments.map(({ name }) => name));
  if (outgoing.wanted) {
    try {
      outgoing = await made(outgoing, outgoing.wanted);
    } catch (error) {
      return update({ state: 'unsent', problem: Problem.from(error) });
    }
  }
  const { session: id, message, attachments, key } = outgoing;
  const body = {
    message, conversation_id: id,
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(outgoing.withoutModel ? { without_model: true } : {}),
  };
  await follow(id, `${API}/chat/stream`, body, { 'idempotency-key': key });
}

/** Makes the session of a first message, and opens it. */
async function made(outgoing: Outgoing, wanted: NewSession): Promise<Outgoing> {
  const head = await createSession({ ...wanted, id: outgoing.session });
  const sent = { ...outgoing, wanted: null };
  put(sent);
  show(head);
  go(addressOf(head.id));
  void refreshSessions().catch(() => undefined);
  return sent;
}

/** Takes a message and its files back into the field it was written in. */
export function takeBack({ session: id, message, attachments, wanted }: Outgoing) {
  forget(id);
  write(wanted ? null : id, message);
  filesOf(wanted ? null : id).value = attachments;
  document.getElementById('message')?.focus();
}

/** Gives a message up that was not sent. */
export function forget(id: string) {
  take(id);
  if (live.value?.session === id) live.value = null;
}

/** Closes the stream: the server stops the model and keeps what was said so far. */
export function stop() {
  stopping?.abort();
}

export async function decide(id: string, call: string, approve: boolean, forSession = false) {
  const asked = live.value?.calls.find((known) => known.id === call);
  if (asked?.state !== 'waiting') return;
  updateCall(call, { state: approve ? 'running' : 'refused' });
  update({ state: 'running' });
  const body = { approve, ...(forSession ? { scope: 'session' } : {}) };
  await follow(id, API + at('conversations', id, 'approvals', call), body, { accept: 'text/event-stream' }, call);
  if (forSession && (await isAllowed(id, asked))) {
    tell(`${asked.name} may run in this session without asking. Sources lists it.`, () => withdraw(id, asked));
  }
}

/** Sends a request and follows its events; `deciding` names the call that it decides. */
async function follow(id: string, path: string, body: unknown, headers: Record<string, string>, deciding?: string) {
  const before = session.value?.turns ?? 0;
  const own = new AbortController();
  stopping = own;
  let turn: number | null = null;
  let problem: Problem | null = null;
  try {
    const response = await send(path, { method: 'POST', body, headers, signal: own.signal });
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      for await (const event of events(response)) turn = receive(event) ?? turn;
      // A stream that just ends was cut off.
      if (turn === null && !isPaused()) problem = Problem.from(new Error('cut off'));
    } else {
      const answer = await response.json();
      turn = answer.turn ?? null;
      for (const call of answer.awaiting_approval ?? []) addCall(waitingCall(call));
    }
  } catch (error) {
    problem = Problem.from(error);
  } finally {
    if (problem?.code === 'unreachable') silent();
    showText();
  }
  // A call was decided before the stream that announced it had ended: the turn is followed there now.
  if (stopping !== own && live.value?.session === id) return take(id);
  if (stopping === own) stopping = null;
  if (problem?.code === 'stopped') {
    turn = await storedTurn(id, before);
    if (turn === null) return notKept(id);
  } else if (problem && deciding) {
    updateCall(deciding, { state: 'waiting' });
    update({ state: 'waiting' });
    if (problem.status !== 404) return complain(problem);
    await lookAgain().catch(() => undefined);
    return tell('This call no longer waits: it was decided elsewhere, or its time is over.');
  } else if (problem) {
    if (problem.code === 'session_inactive') void refreshSession().catch(() => undefined);
    return update({ state: 'unsent', problem });
  }
  await settle(id, turn);
}

/** One event of the stream; answers the turn's number when it ends. */
function receive({ event, data }: SentEvent): number | null {
  const body = JSON.parse(data);
  if (event !== 'delta') showText();
  switch (event) {
    case 'context':
      update({ context: body as ContextBrief });
      break;
    case 'tool_call':
      addCall({ id: body.id, server: body.server, name: body.name, arguments: body.arguments, state: 'running' });
      break;
    case 'tool_result':
      updateCall(body.id, { state: body.ok ? 'ok' : 'failed', result: body.result });
      break;
    case 'approval':
      addCall(waitingCall(body as AwaitedCall));
      break;
    case 'delta':
      addText(body.text);
      break;
    case 'usage':
      update({ usage: body as Usage });
      break;
    case 'error':
      throw new Problem(body.status ?? 0, body.code ?? 'unknown', body.detail ?? 'the turn failed', body.hint ?? '');
    case 'done':
      return body.turn ?? null;
  }
  return null;
}

const isPaused = () => live.value?.calls.some((call) => call.state === 'waiting') ?? false;

/** The turn becomes history, or waits for a decision. */
async function settle(id: string, turn: number | null) {
  take(id);
  if (isPaused()) {
    update({ state: 'waiting' });
    await refreshSession().catch(() => undefined);
    return;
  }
  const here = turns.value?.session === id ? turns.value : null;
  if (turn && here) {
    const whole = await here.whole(turn).catch(() => null);
    if (whole) here.add(whole);
  }
  decided(id);
  live.value = null;
  entitiesChanged.value += 1;
  await Promise.all([refreshSession(), refreshSessions()]).catch(() => undefined);
}

/** Nothing of this session waits any more; the head that is at hand was read while something did. */
function decided(id: string) {
  const head = session.peek();
  if (head?.id === id && head.awaiting_approval.length > 0) session.value = { ...head, awaiting_approval: [], paused: null };
}

/** Stopped before the server had anything to keep: the message goes back to where it was written. */
function notKept(id: string) {
  const outgoing = outbox.value[id];
  if (outgoing) takeBack(outgoing);
  else live.value = null;
  tell('Stopped before anything was said.');
}

const STORED_TRIES = 12;
const STORED_WAIT_MS = 150;

/** After a stop the server still stores what was said; waits a moment for that turn. */
async function storedTurn(id: string, before: number): Promise<number | null> {
  for (let tries = 0; tries < STORED_TRIES; tries += 1) {
    const head = session.peek()?.id === id ? await refreshSession().catch(() => null) : null;
    if (head && head.turns > before) return head.turns;
    await new Promise((done) => setTimeout(done, STORED_WAIT_MS));
  }
  return null;
}

const UNCONFIRMED = new Problem(0, 'unconfirmed', 'the server has not confirmed this message', 'sending it again never makes a second turn of it');

/** A session is open again: finds out what became of a message that was on its way when the page was left. */
export async function reconcile(head: Conversation) {
  const outgoing = outbox.peek()[head.id];
  if (!outgoing || live.peek()) return;
  for (let tries = 0; tries < STORED_TRIES; tries += 1) {
    const path = at('conversations', head.id, 'history') + query({ limit: 5, order: 'desc' });
    const latest = await get<{ turns: TurnBrief[] }>(path).then((answer) => answer.turns, () => []);
    const stored = latest.find((turn) => turn.turn > outgoing.turnsBefore && turn.message === outgoing.message);
    if (stored || head.paused?.message === outgoing.message) {
      if (stored?.status === 'partial') noteLeft(head.id, stored.turn);
      const shown = live.peek();
      return shown === null || shown.state === 'unsent' ? settle(head.id, stored?.turn ?? null) : take(head.id);
    }
    if (tries === 0 && !live.peek()) showUnsent(outgoing, UNCONFIRMED);
    if (live.peek()?.state !== 'unsent') return;
    await new Promise((done) => setTimeout(done, STORED_WAIT_MS));
  }
}
