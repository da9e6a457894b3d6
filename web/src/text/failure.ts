// What went wrong with a turn, in words; and whether anything did.
import type { FailureCause, TurnBrief } from '../api/types';

export interface Failure {
  /** `stopped` is what the reader wanted. */
  kind: 'stopped' | 'failed';
  /** One sentence. */
  words: string;
  /** What the other side said, for those who want to know. */
  detail: string;
  /** Whether the reply above was made without the model that failed. */
  answeredWithout: boolean;
}

const CAUSES: Record<FailureCause, string> = {
  unauthorized: "The model's provider did not accept the key.",
  rate_limited: "The model's provider asks to slow down, or a quota is used up.",
  timed_out: 'The model did not answer in time.',
  unreachable: 'The model could not be reached.',
  not_found: 'The provider does not know this model.',
  rejected: "The model's provider refused the request.",
  malformed: "The model's answer was broken off or could not be read.",
  too_large: 'The request or the answer was too large.',
  failed: "The model's provider failed.",
  cancelled: 'Stopped.',
};

/** Failures that no model caused. */
const CODES: Record<string, string> = {
  no_tool: 'No tool fits this question.',
  too_many_tool_calls: 'It wanted more tool calls than are allowed.',
  reply_cut: 'The model stopped at its maximum length, so the reply is not whole.',
  reply_refused: "The model's provider refused to continue, so the reply is not whole.",
  reply_empty: 'The model said nothing.',
  tool_failed: 'A tool failed.',
  interrupted: 'The reply was interrupted: the server stopped.',
  outcome_unknown: 'The server stopped during this turn.',
  model_failed: 'The model failed.',
};

/** `left`: the page was closed or loaded again while the reply was coming. */
export function failureOf({ status, error, form, reply }: TurnBrief, left = false): Failure | null {
  if (error?.code === 'cancelled' || (status === 'partial' && !error)) {
    const words = left
      ? reply ? 'The reply ended when the page was left. This is what had been said.' : 'The page was left before anything was said.'
      : reply ? 'Stopped. This is what had been said.' : 'Stopped before anything was said.';
    return { kind: 'stopped', words, detail: '', answeredWithout: false };
  }
  if (status === 'complete' && form.by === 'model' && reply.trim() === '') return { kind: 'failed', words: CODES['reply_empty']!, detail: '', answeredWithout: false };
  if (status !== 'failed' && !(status === 'partial' && error)) return null;
  const { code = '', message = '', cause } = error ?? {};
  const words = (cause && CAUSES[cause]) ?? CODES[code] ?? 'The turn failed.';
  const answeredWithout = code === 'model_failed' && form.by === 'offline' && reply !== '';
  return { kind: 'failed', words, detail: withoutTags(message), answeredWithout };
}

/** Proxies answer with a page of their own: its words are enough. */
function withoutTags(message: string): string {
  if (!/<(!doctype|html|head|body)\b/i.test(message)) return message;
  return message.replace(/<(title|style|script)\b[^]*?<\/\1>/gi, ' ').replace(/<[^>]*>?/g, ' ').replace(/\s+/g, ' ').trim();
}
