// Receipts, fetched once: a committed turn's receipt never changes.
import { API, at, get, Problem, query, send } from '../api/client';
import type { Receipt } from '../api/types';

const known = new Map<string, Promise<Receipt | null>>();
const texts = new Map<string, Promise<string>>();
const KEPT_MAX = 400;

/** The receipt of a turn; `null` where the turn has none. */
export function receiptOf(session: string, turn: number): Promise<Receipt | null> {
  const key = `${session}/${turn}`;
  let found = known.get(key);
  if (!found) {
    found = get<Receipt>(at('conversations', session, 'turns', turn, 'context')).catch((error) => {
      if (error instanceof Problem && error.status === 404) return null;
      known.delete(key);
      throw error;
    });
    keep(known, key, found);
  }
  return found;
}

/** The text of a piece as it was sent on that turn. */
export function textOf(session: string, turn: number, hash: string): Promise<string> {
  const key = `${session}/${turn}/${hash}`;
  let found = texts.get(key);
  if (!found) {
    found = send(API + at('conversations', session, 'turns', turn, 'contents', hash)).then((response) => response.text());
    found.catch(() => texts.delete(key));
    keep(texts, key, found);
  }
  return found;
}

/** A request as it was made, with the hash of its bytes. */
export interface SentRequest {
  text: string;
  size: number;
  hash: string;
}

async function requestAs(session: string, turn: number, round: number, format?: string): Promise<SentRequest> {
  const response = await send(API + at('conversations', session, 'turns', turn, 'request') + query({ format, round: round > 1 ? round : null }));
  const bytes = await response.arrayBuffer();
  return { text: new TextDecoder().decode(bytes), size: bytes.byteLength, hash: response.headers.get('x-request-hash') ?? '' };
}

/** The request of a turn as the engine made it; with `round`, the one before that round of calls. */
export function requestOf(session: string, turn: number, round: number): Promise<SentRequest> {
  return requestAs(session, turn, round);
}

/** The body that the provider was sent; `null` where no model was asked. */
export function providerRequestOf(session: string, turn: number, round: number): Promise<SentRequest | null> {
  return requestAs(session, turn, round, 'provider').catch((error) => {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  });
}

function keep<T>(map: Map<string, T>, key: string, value: T) {
  map.set(key, value);
  if (map.size > KEPT_MAX) map.delete(map.keys().next().value!);
}

/** Forgets what was fetched of a session; an erased one is gone here too. */
export function forgetReceipts(session: string) {
  for (const map of [known, texts] as Map<string, unknown>[]) {
    for (const key of [...map.keys()]) if (key.startsWith(`${session}/`)) map.delete(key);
  }
}
