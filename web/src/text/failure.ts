// What went wrong with a turn, in words; and whether anything did.
import type { TurnBrief } from '../api/types';

export interface Failure {
  /** `stopped` is what the reader wanted. */
  kind: 'stopped' | 'failed';
  /** One sentence. */
  words: string;
  /** What the other side said, for those who want to know. */
  detail: string;
  /** Whether the reply below was made without the model that failed. */
  answeredWithout: boolean;
}

const CAUSES: [RegExp, string][] = [
  [/\b40[13]\b|unauthor|credential|api key|invalid.{0,10}key/i, "The model's provider did not accept the key."],
  [/\b429\b|rate.?limit|slow down|quota/i, "The model's provider asks to slow down, or a quota is used up."],
  [/timed?.?out|in time|\bno (answer|response|output|word) (within|for)|complete within|took longer/i, 'The model did not answer in time.'],
  [/unreachable|cannot be reached|connect|dns|refused to connect/i, 'The model could not be reached.'],
  [/\b404\b|not found|no such model/i, 'The provider does not know this model.'],
  [/\b5\d\d\b|overloaded/i, "The model's provider failed."],
  [/too large|context.{0,12}(length|window)|\b413\b/i, 'The request was too large for the model.'],
];

export function causeInWords(code: string, message: string): string {
  return CAUSES.find(([pattern]) => pattern.test(code) || pattern.test(message))?.[1] ?? 'The model failed.';
}

/** Servers that answer without a model when it fails say why in the reply's form. */
const MODEL_FAILED = /^(model\s.+|.+\/.+) failed: /;

export function failureOf({ status, error, form, reply }: TurnBrief): Failure | null {
  if (error?.code === 'cancelled' || (status === 'partial' && !error)) {
    const words = reply ? 'Stopped. This is what had been said.' : 'Stopped before anything was said.';
    return { kind: 'stopped', words, detail: '', answeredWithout: false };
  }
  if (status === 'failed' || (status === 'partial' && error)) {
    const { code = 'failed', message = '' } = error ?? {};
    const words = code === 'no_tool' ? 'No tool fits this question.'
      : code === 'too_many_tool_calls' ? 'It wanted more tool calls than are allowed.'
      : causeInWords(code, message);
    return { kind: 'failed', words, detail: message, answeredWithout: false };
  }
  const why = form.by === 'offline' ? form.why ?? '' : '';
  if (!MODEL_FAILED.test(why)) return null;
  return { kind: 'failed', words: causeInWords('', why), detail: why, answeredWithout: true };
}
