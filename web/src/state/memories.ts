// What is remembered about a user beyond a session: short statements, each with where it came from. A server that
// keeps none has no such page.
import { signal } from '@preact/signals';
import { at, change, get, Problem, query } from '../api/client';
import type { Memory } from '../api/types';

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

export function memories(words: string, cursor: string | null = null): Promise<MemoriesPage> {
  return get(`/memories${query({ q: words, limit: 50, cursor })}`);
}

export function memory(id: string): Promise<Memory> {
  return get(at('memories', id));
}

export function addMemory(text: string): Promise<Memory> {
  return change('POST', '/memories', { text });
}

export function changeMemory(id: string, text: string): Promise<Memory> {
  return change('PATCH', at('memories', id), { text });
}

/** Forgets a memory; `turns` says what becomes of the turns in which it was said. Answers what is to be known of them. */
export function forgetMemory(id: string, turns: 'withheld' | 'erased'): Promise<{ notes: string[] }> {
  return change('DELETE', `${at('memories', id)}${query({ turns })}`);
}
