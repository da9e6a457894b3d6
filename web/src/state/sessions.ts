// The list of sessions and what can be done to one.
import { saveAs } from './download';
import { signal } from '@preact/signals';
import { API, at, change, get, Problem, query, send } from '../api/client';
import { topicWords } from '../text/topic';
import type { Conversation, Erasure, SearchHit, Settings } from '../api/types';

export const PAGE = 50;

export const sessions = signal<Conversation[]>([]);
export const sessionsLoaded = signal(false);
export const nextCursor = signal<string | null>(null);
export const withInactive = signal(false);
export const chosenTag = signal<string | null>(null);

interface Page {
  conversations: Conversation[];
  next_cursor: string | null;
}

function page(cursor: string | null, limit = PAGE): Promise<Page> {
  return get(`/conversations${query({ limit, cursor, tag: chosenTag.value, inactive: withInactive.value || null })}`);
}

export async function refreshSessions() {
  const answer = await page(null);
  sessions.value = answer.conversations;
  nextCursor.value = answer.next_cursor;
  sessionsLoaded.value = true;
}

export async function moreSessions(limit = PAGE) {
  const cursor = nextCursor.value;
  if (!cursor) return;
  const answer = await page(cursor, limit);
  // The list was read anew in the meantime.
  if (nextCursor.value !== cursor) return;
  const known = new Set(sessions.value.map((session) => session.id));
  sessions.value = [...sessions.value, ...answer.conversations.filter((session) => !known.has(session.id))];
  nextCursor.value = answer.next_cursor;
}

/** What a session is called: its title, else what it is about. */
export function nameOf({ title, topic, turns, id }: Conversation): string {
  return title || topicWords(topic) || (turns === 0 ? 'New session' : `Session ${id.slice(0, 8)}`);
}

/** The title of one of the user's conversations, from the list where it is there. */
export async function titleOf(id: string): Promise<string> {
  const { title } = sessions.value.find((session) => session.id === id) ?? (await get<Conversation>(at('conversations', id)));
  return title ?? id;
}

/** Puts a changed head into the list. */
export function replace(session: Conversation) {
  sessions.value = sessions.value.map((known) => (known.id === session.id ? session : known));
}

export interface NewSession {
  agent?: string;
  preset?: string;
  title?: string;
  settings?: Settings;
}

/** Makes a session under an id of the page's own. One that is there already was made by the same request before. */
export async function createSession(wanted: NewSession & { id: string }): Promise<Conversation> {
  try {
    return await change('POST', '/conversations', wanted);
  } catch (error) {
    if (error instanceof Problem && error.code === 'session_exists') return get(at('conversations', wanted.id));
    throw error;
  }
}

export async function patchSession(id: string, patch: Record<string, unknown>, version?: number): Promise<Conversation> {
  const headers: Record<string, string> = version === undefined ? {} : { 'if-match': `"${version}"` };
  const session = await change<Conversation>('PATCH', at('conversations', id), patch, headers);
  replace(session);
  return session;
}

export function forkSession(id: string, turn?: number): Promise<Conversation> {
  return change('POST', at('conversations', id, 'fork'), turn === undefined ? {} : { turn });
}

export async function archiveSession(id: string) {
  await change('DELETE', at('conversations', id));
  await refreshSessions();
}

export async function eraseSession(id: string): Promise<Erasure> {
  const receipt = await change<Erasure>('DELETE', at('conversations', id, 'permanent'));
  await refreshSessions();
  return receipt;
}

/** A name without what file systems refuse. */
function fileName(name: string): string {
  return name.replace(/[\\/:*?"<>|\p{Cc}]+/gu, ' ').replace(/\s+/g, ' ').trim().replace(/^\.+/, '').slice(0, 80).trim() || 'session';
}

/** Fetches an export with the key and hands it to the browser as a file. */
export async function exportSession(session: Conversation, format: 'json' | 'markdown') {
  const response = await send(API + at('conversations', session.id, 'export') + query({ format }));
  saveAs(`${fileName(nameOf(session))}.${format === 'json' ? 'json' : 'md'}`, await response.blob());
}

/** What a file of a chat product brought. */
export interface Imported {
  imported: { id: string; title: string | null; turns: number }[];
  already_there: string[];
  skipped: string[];
}

/** Sends a file as it is: our own export, or that of a chat product. */
export async function importFile(file: File): Promise<Conversation | Imported> {
  const markdown = /\.(md|markdown)$/i.test(file.name);
  const headers = { 'content-type': markdown ? 'text/markdown' : 'application/json' };
  const response = await send(`${API}/import`, { method: 'POST', text: await file.text(), headers });
  return response.json();
}

export async function searchSessions(words: string, signal: AbortSignal): Promise<SearchHit[]> {
  return (await get<{ hits: SearchHit[] }>(`/search${query({ q: words, limit: 20 })}`, signal)).hits;
}
