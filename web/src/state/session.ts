// The open session: its head, its turns, and the turn that is being made.
import { signal } from '@preact/signals';
import { at, get, Problem } from '../api/client';
import type { Conversation } from '../api/types';
import { live } from './live';
import { openId } from './route';
import { replace } from './sessions';
import { Turns } from './turns';

export const session = signal<Conversation | null>(null);
export const turns = signal<Turns | null>(null);
export const sessionProblem = signal<Problem | null>(null);

export async function openSession(id: string) {
  if (session.peek()?.id === id) return;
  session.value = null;
  turns.value = null;
  sessionProblem.value = null;
  try {
    const head = await get<Conversation>(at('conversations', id));
    // The reader may have gone elsewhere in the meantime.
    if (openId.peek() === id && session.peek()?.id !== id) show(head);
  } catch (error) {
    if (openId.peek() === id) sessionProblem.value = Problem.from(error);
  }
}

/** Shows a session whose head is at hand. */
export function show(head: Conversation) {
  const opened = new Turns(head.id);
  opened.total.value = head.turns;
  turns.value = opened;
  session.value = head;
}

export function closeSession() {
  session.value = null;
  turns.value = null;
  sessionProblem.value = null;
}

let readings = 0;

/** Reads the head again, after something changed it. What a later reading overtook is not shown. */
export async function refreshSession(): Promise<Conversation | null> {
  const id = session.value?.id;
  if (!id) return null;
  const reading = (readings += 1);
  const head = await get<Conversation>(at('conversations', id));
  if (session.value?.id === id && reading === readings) {
    session.value = head;
    replace(head);
    if (turns.value && live.value?.session !== id) turns.value.total.value = Math.max(turns.value.total.value, head.turns);
  }
  return head;
}
