// One way to the server: adds the key, reads problems, and never speaks to another host.
import { answered, silent } from '../state/connection';
import { apiKey, keyWanted } from './key';

export const API = '/api/v1';

/** What the server said went wrong. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly hint: string,
  ) {
    super(detail);
  }

  static async of(response: Response): Promise<Problem> {
    const body = await response.json().catch(() => ({}));
    const detail = body.detail ?? `the server answered ${response.status}`;
    return new Problem(response.status, body.code ?? 'unknown', detail, body.hint ?? '');
  }

  static from(error: unknown): Problem {
    if (error instanceof Problem) return error;
    if (error instanceof DOMException && error.name === 'AbortError') {
      return new Problem(0, 'stopped', 'stopped', '');
    }
    return new Problem(0, 'unreachable', 'the server does not answer', 'see whether it is running; the page tries again by itself');
  }
}

export interface Sending {
  method?: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is; the headers say what it is. */
  text?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Sends a request; throws a `Problem` unless it succeeded. */
export async function send(path: string, sending: Sending = {}): Promise<Response> {
  const headers: Record<string, string> = { ...sending.headers };
  if (apiKey.value) headers['authorization'] = `Bearer ${apiKey.value}`;
  if (sending.body !== undefined) headers['content-type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(path, {
      method: sending.method ?? 'GET',
      headers,
      body: sending.body === undefined ? (sending.text ?? null) : JSON.stringify(sending.body),
      signal: sending.signal ?? null,
      credentials: 'same-origin',
    });
  } catch (error) {
    const problem = Problem.from(error);
    if (problem.code === 'unreachable') silent();
    throw problem;
  }
  answered();
  if (response.status === 401) keyWanted.value = true;
  if (!response.ok) throw await Problem.of(response);
  return response;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send(API + path, signal ? { signal } : {})).json();
}

export async function change<T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<T> {
  const response = await send(API + path, { method, body, headers: headers ?? {} });
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

/** A path with its parts escaped: `at('conversations', id, 'fork')`. */
export function at(...parts: (string | number)[]): string {
  return '/' + parts.map((part) => encodeURIComponent(String(part))).join('/');
}

/** `?a=1&b=2`, leaving out what is not set. */
export function query(values: Record<string, string | number | boolean | null | undefined>): string {
  const set = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return set.length ? '?' + new URLSearchParams(set.map(([name, value]) => [name, String(value)])) : '';
}
