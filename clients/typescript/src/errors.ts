/** What can go wrong, with the server's own words. */

/** The base of every error of this package. */
export class ThroughlineError extends Error {
  override name = 'ThroughlineError';
}

/** The server could not be reached, or the connection broke. */
export class ConnectionFailed extends ThroughlineError {
  override name = 'ConnectionFailed';
}

/** The fields of an `application/problem+json` answer. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  hint: string;
  current_version?: number | null;
}

/** The server's answer was an error. `code` is stable and meant for programs; `detail` says what failed, `hint` what to try. */
export class ApiError extends ThroughlineError implements Problem {
  override name = 'ApiError';
  readonly type: string;
  readonly title: string;
  readonly detail: string;
  readonly code: string;
  readonly hint: string;
  readonly current_version: number | null;

  constructor(
    readonly status: number,
    problem: Partial<Problem>,
    readonly requestId: string | null = null,
  ) {
    const what = `${problem.detail || problem.title || 'the request failed'} (${status} ${problem.code ?? 'unknown'})`;
    super(problem.hint ? `${what}\nhint: ${problem.hint}` : what);
    this.type = problem.type ?? 'about:blank';
    this.title = problem.title ?? '';
    this.detail = problem.detail ?? '';
    this.code = problem.code ?? 'unknown';
    this.hint = problem.hint ?? '';
    this.current_version = problem.current_version ?? null;
  }
}

/** There is no such thing, or it belongs to somebody else (404). */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** It exists already, or has changed since it was read (409). */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}

/** The server takes no more at the moment, also after the retries (429 or 503). */
export class BusyError extends ApiError {
  override name = 'BusyError';
}

/** The error for an answer; a body that is no problem document is its detail. */
export function errorFor(status: number, body: unknown, requestId: string | null = null): ApiError {
  const problem = typeof body === 'object' && body !== null ? (body as Partial<Problem>) : { detail: String(body) };
  const kinds: Record<number, typeof ApiError> = { 404: NotFoundError, 409: ConflictError, 429: BusyError, 503: BusyError };
  return new (kinds[status] ?? ApiError)(status, problem, requestId);
}
