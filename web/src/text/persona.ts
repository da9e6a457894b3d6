// What is wrong with a persona, field by field. The server checks the same and has the last word.
import type { Persona } from '../api/types';

const PROMPT_BYTES_MAX = 32 * 1024;

export type Complaints = Partial<Record<keyof Persona, string>>;

export function complaints(persona: Persona): Complaints {
  const found: Complaints = {};
  const outside = (value: number, least: number, most: number) => !(value >= least && value <= most);
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  if (!persona.name.trim()) found.name = 'A name is needed.';
  else if ([...persona.name].length > 200) found.name = 'At most 200 characters.';
  if (!persona.system_prompt.trim()) found.system_prompt = 'A prompt is needed: it is what makes the persona.';
  else if (bytes(persona.system_prompt) > PROMPT_BYTES_MAX) found.system_prompt = 'At most 32 KiB.';
  if (bytes(persona.personality) > PROMPT_BYTES_MAX) found.personality = 'At most 32 KiB.';
  if (outside(persona.temperature, 0, 1)) found.temperature = 'Between 0.0 and 1.0.';
  if (outside(persona.reply_tokens_max, 1, 200_000)) found.reply_tokens_max = 'Between 1 and 200,000.';
  if (outside(persona.history_tokens_max, 1, 2_000_000)) found.history_tokens_max = 'Between 1 and 2,000,000.';
  if (outside(persona.expiry_days, 1, 3650)) found.expiry_days = 'Between 1 and 3,650 days.';
  return found;
}
