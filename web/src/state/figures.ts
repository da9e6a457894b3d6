// The few figures that say how a server is doing, each with its unit and what it means.
import { counts, stat, total, type Look } from './operations';
import { buckets, quantile } from '../text/histogram';
import { count, milliseconds, percent } from '../text/numbers';

export interface Figure {
  name: string;
  value: string;
  means: string;
  bad?: boolean;
}

const REQUESTS = 'throughline_http_request_seconds';
const failedTurn = (labels: Record<string, string>) => labels['status'] === 'failed';
const serverError = (labels: Record<string, string>) => labels['status']?.startsWith('5') ?? false;

export function figuresOf(look: Look): Figure[] {
  const { context } = look.health;
  const turns = total(look, 'throughline_turns_total');
  const failed = total(look, 'throughline_turns_total', failedTurn);
  // Most of them are what a failed turn failed of, so both are told and never added.
  const models = total(look, 'throughline_model_failures_total');
  const errors = total(look, 'throughline_http_requests_total', serverError);
  const slow = quantile(buckets(look.samples, REQUESTS), 0.95);
  const [made, missed, spared] = ['look_ups_made', 'look_ups_failed', 'look_ups_spared'].map((name) => stat(look, name) ?? 0) as [number, number, number];
  return [
    { name: 'Stable share', value: context.turns > 0 ? percent(context.stable_prefix_share) : '–', means: `of the last ${count(context.turns)} requests repeats the one before, which a provider's cache can serve` },
    ...tokensOf(look),
    { name: 'Turns', value: count(turns), means: `since the start; ${failed > 0 ? count(failed) : 'none'} failed${models > 0 ? `, models ${count(models)} ${models === 1 ? 'time' : 'times'}` : ''}`, bad: failed > 0 },
    { name: 'Look-ups', value: count(made), means: `of things through tools; ${count(missed)} failed, ${count(spared)} were spared`, bad: missed > 0 },
    { name: 'Slowest 5 %', value: slow === null ? '–' : milliseconds(slow * 1000), means: '95 % of all requests since the start took less' },
    { name: 'Errors', value: count(errors), means: 'answers with a status of 500 or more since the start', bad: errors > 0 },
  ];
}

/** Tokens a request: effective ones where the server counts them, beside a plain replay; else all that were sent. Turns that
 * another program recorded have none, and are not counted. */
function tokensOf(look: Look): Figure[] {
  const requests = total(look, 'throughline_context_window_share_count');
  const each = (name: string) => (requests > 0 ? count(total(look, name) / requests) : '–');
  if (counts(look, 'throughline_effective_tokens_total')) {
    // Without instructions and tools: worth a word only where even that costs more.
    const saves = total(look, 'throughline_replay_effective_tokens_total') > total(look, 'throughline_effective_tokens_total');
    const replay = saves ? `; every word of the conversations again: ${each('throughline_replay_effective_tokens_total')}, without instructions and tools` : '';
    return [{ name: 'Effective tokens a request', value: each('throughline_effective_tokens_total'), means: `cached ones counted at a tenth${replay}` }];
  }
  return [{ name: 'Tokens a request', value: each('throughline_context_tokens_total'), means: 'sent to a model, or what would be sent' }];
}
