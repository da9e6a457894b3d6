// A turn that is being made: what has been said so far, tools as they run, calls that wait for a decision.
import { signal } from '@preact/signals';
import type { Problem } from '../api/client';
import type { AwaitedCall, ContextBrief, PausedTurn, Usage } from '../api/types';
import type { Outgoing } from './outbox';

export interface LiveCall {
  id: string;
  server: string;
  name: string;
  arguments: unknown;
  state: 'running' | 'waiting' | 'refused' | 'ok' | 'failed';
  result?: string;
  reason?: string;
  /** Whether the decision may hold for the whole session. */
  forSession?: boolean;
}

export interface LiveTurn {
  session: string;
  message: string;
  /** Names of the files that go along. */
  attachments: string[];
  text: string;
  calls: LiveCall[];
  context: ContextBrief | null;
  usage: Usage | null;
  /** `unsent`: the server has not confirmed the message, which is still in the outbox. */
  state: 'running' | 'waiting' | 'unsent';
  problem: Problem | null;
  startedAt: number;
}

export const live = signal<LiveTurn | null>(null);

export function begin(session: string, message: string, attachments: string[] = []) {
  unshown = '';
  live.value = {
    session, message, attachments, text: '', calls: [], context: null, usage: null, state: 'running', problem: null,
    startedAt: performance.now(),
  };
}

export function update(change: Partial<LiveTurn>) {
  if (live.value) live.value = { ...live.value, ...change };
}

export function updateCall(id: string, change: Partial<LiveCall>) {
  const turn = live.value;
  if (!turn) return;
  update({ calls: turn.calls.map((call) => (call.id === id ? { ...call, ...change } : call)) });
}

export function addCall(call: LiveCall) {
  const turn = live.value;
  if (!turn) return;
  if (turn.calls.some((known) => known.id === call.id)) updateCall(call.id, call);
  else update({ calls: [...turn.calls, call] });
}

export function waitingCall(call: AwaitedCall): LiveCall {
  const { id, server, name, arguments: given, reason } = call;
  const state = call.approved === true ? 'running' : call.approved === false ? 'refused' : 'waiting';
  return { id, server, name, arguments: given, reason, state, forSession: call.session_scope ?? false };
}

/** A session that was left while calls wait: shows again what was said and what waits. */
export function resume(session: string, paused: PausedTurn | null, waiting: AwaitedCall[]) {
  begin(session, paused?.message ?? '');
  update({ state: 'waiting', text: paused?.said ?? '', calls: waiting.map(waitingCall) });
}

/** A message that the server never confirmed: shows it again, with what can be done. */
export function showUnsent(outgoing: Outgoing, problem: Problem) {
  begin(outgoing.session, outgoing.message, outgoing.attachments.map(({ name }) => name));
  update({ state: 'unsent', problem });
}

let unshown = '';
let frame = 0;

/** Words arrive faster than anybody reads: they are shown once a frame. */
export function addText(text: string) {
  unshown += text;
  if (!frame) frame = requestAnimationFrame(showText);
}

/** Shows the words that wait for their frame; needed before anything else happens to the turn. */
export function showText() {
  cancelAnimationFrame(frame);
  frame = 0;
  const text = unshown;
  unshown = '';
  if (text && live.value) update({ text: live.value.text + text });
}
