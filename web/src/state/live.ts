// A turn that is being made: what has been said so far, tools as they run, calls that wait for a decision.
import { signal } from '@preact/signals';
import type { Problem } from '../api/client';
import type { AwaitedCall, ContextBrief, PausedTurn, Usage } from '../api/types';

export interface LiveCall {
  id: string;
  server: string;
  name: string;
  arguments: unknown;
  state: 'running' | 'waiting' | 'refused' | 'ok' | 'failed';
  result?: string;
  reason?: string;
}

export interface LiveTurn {
  session: string;
  message: string;
  text: string;
  calls: LiveCall[];
  context: ContextBrief | null;
  usage: Usage | null;
  state: 'running' | 'waiting' | 'failed';
  problem: Problem | null;
  startedAt: number;
}

export const live = signal<LiveTurn | null>(null);

export function begin(session: string, message: string) {
  unshown = '';
  live.value = {
    session, message, text: '', calls: [], context: null, usage: null, state: 'running', problem: null,
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

/** A session that was left while calls wait: shows again what was said and what waits. */
export function resume(session: string, paused: PausedTurn | null, waiting: AwaitedCall[]) {
  begin(session, paused?.message ?? '');
  update({ state: 'waiting', text: paused?.said ?? '', calls: waiting.map((call) => ({ ...call, state: 'waiting' })) });
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
