// What is remembered about a user beyond a session: short statements, each with where it came from. A server that
// keeps none has no such page.
import { signal } from '@preact/signals';
import { API, at, change, get, Problem, query, send } from '../api/client';
import type { Memory, MemoryKind } from '../api/types';

/** Whether this server remembers beyond a session; null until it was asked. */
export const remembers = signal<boolean | null>(null);

export interface MemoriesPage {
  memories: Memory[];
  next_cursor?: string | null;
}

export async function lookForMemories() {
  try {
    await get<MemoriesPage>('/memories?limit=1');
    remembers.value = true;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) remembers.value = false;
  }
}

/** `replaced` includes those that a newer one took the place of. */
export function memories(words: string, replaced: boolean, cursor: string | null = null): Promise<MemoriesPage> {
  return get(`/memories${query({ q: words, limit: 50, cursor, superseded: replaced || null })}`);
}

export function memory(id: string): Promise<Memory> {
  return get(at('memories', id));
}

/** The server's limit for a statement. */
export const TEXT_BYTES_MAX = 2000;
export const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** Adds a statement, of the kind that its words say where none is named; answers whether it is a new one. */
export async function addMemory(text: string, kind: MemoryKind | null): Promise<boolean> {
  const answer = await send(`${API}/memories`, { method: 'POST', body: { text, ...(kind ? { kind } : {}) } });
  return answer.status === 201;
}

export function changeMemory(id: string, text: string, kind: MemoryKind): Promise<Memory> {
  return change('PATCH', at('memories', id), { text, kind });
}

/** What a memory said before, oldest first: the ones that it took the place of, and its own earlier words. */
export async function earlierOf(memory: Memory): Promise<Memory[]> {
  const { versions } = await get<{ versions: Memory[] }>(at('memories', memory.id, 'history'));
  return versions.filter(({ id, changed_at: changed }) => id !== memory.id || changed !== memory.changed_at);
}

/** Forgets a memory; `turns` says what becomes of the turns in which it was said. Answers what is to be known of them. */
export function forgetMemory(id: string, turns: 'withheld' | 'erased'): Promise<{ notes: string[] }> {
  return change('DELETE', `${at('memories', id)}${query({ turns })}`);
}
