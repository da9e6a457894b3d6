// Sending a message and following its turn; stopping it; deciding calls that wait.
import { API, at, Problem, send } from '../api/client';
import { events, type SentEvent } from '../api/sse';
import type { AwaitedCall, ContextBrief, Usage } from '../api/types';
import { addCall, addText, begin, live, showText, update, updateCall } from './live';
import { refreshSession, session, turns } from './session';
import { refreshSessions } from './sessions';
import { entitiesChanged } from './entities';

let stopping: AbortController | null = null;

export async function sendMessage(id: string, message: string) {
  begin(id, message);
  await follow(id, `${API}/chat/stream`, { message, conversation_id: id }, { 'idempotency-key': freshKey() });
}

/** Closes the stream: the server stops the model and keeps what was said so far. */
export function stop() {
  stopping?.abort();
}

export async function decide(id: string, call: string, approve: boolean) {
  updateCall(call, { state: approve ? 'running' : 'refused' });
  update({ state: 'running' });
  await follow(id, API + at('conversations', id, 'approvals', call), { approve }, { accept: 'text/event-stream' });
}

async function follow(id: string, path: string, body: unknown, headers: Record<string, string>) {
  const before = session.value?.turns ?? 0;
  stopping = new AbortController();
  let turn: number | null = null;
  try {
    const response = await send(path, { method: 'POST', body, headers, signal: stopping.signal });
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      for await (const event of events(response)) turn = receive(event) ?? turn;
    } else {
      const answer = await response.json();
      turn = answer.turn ?? null;
      for (const call of answer.awaiting_approval ?? []) addCall({ ...call, state: 'waiting' });
    }
  } catch (error) {
    const problem = Problem.from(error);
    if (problem.code !== 'stopped') return fail(problem);
    turn = await keptAfterStop(before);
  } finally {
    stopping = null;
  }
  if (live.value?.state === 'failed') return;
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
      addCall({ ...(body as AwaitedCall), state: 'waiting' });
      break;
    case 'delta':
      addText(body.text);
      break;
    case 'usage':
      update({ usage: body as Usage });
      break;
    case 'error':
      fail(new Problem(body.status ?? 0, body.code ?? 'unknown', body.detail ?? 'the turn failed', body.hint ?? ''));
      break;
    case 'done':
      return body.turn ?? null;
  }
  return null;
}

function fail(problem: Problem) {
  update({ state: 'failed', problem });
}

/** The turn becomes history, or waits for a decision. */
async function settle(id: string, turn: number | null) {
  if (live.value?.calls.some((call) => call.state === 'waiting')) {
    update({ state: 'waiting' });
    await refreshSession();
    return;
  }
  const here = turns.value?.session === id ? turns.value : null;
  if (turn && here) {
    const whole = await here.whole(turn).catch(() => null);
    if (whole) here.add(whole);
  }
  live.value = null;
  entitiesChanged.value += 1;
  await Promise.all([refreshSession(), refreshSessions()]).catch(() => undefined);
}

const KEPT_TRIES = 12;
const KEPT_WAIT_MS = 150;

/** After a stop the server still commits what was said; waits a moment for that turn. */
async function keptAfterStop(before: number): Promise<number | null> {
  for (let tries = 0; tries < KEPT_TRIES; tries += 1) {
    const head = await refreshSession().catch(() => null);
    if (head && head.turns > before) return head.turns;
    await new Promise((done) => setTimeout(done, KEPT_WAIT_MS));
  }
  return null;
}

/** A key for one message, so that a repeated request is not a repeated turn. */
function freshKey(): string {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
