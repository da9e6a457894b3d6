// Presets: stored starting points for personas.
import { at, change } from '../api/client';
import type { Persona, Preset } from '../api/types';
import { refreshPresets } from './catalogue';

/** The persona that a preset starts. */
export function personaOf(preset: Preset): Persona {
  const value = <T>(names: string[], otherwise: T): T => {
    for (const name of names) if (preset[name] !== undefined && preset[name] !== null) return preset[name] as T;
    return otherwise;
  };
  return {
    name: preset.name,
    system_prompt: value(['system_prompt', 'systemPrompt'], ''),
    personality: value(['personality'], ''),
    temperature: value(['temperature'], 0.7),
    reply_tokens_max: value(['reply_tokens_max', 'maxTokens'], 1000),
    history_tokens_max: value(['history_tokens_max', 'maxHistoryTokens'], 15000),
    expiry_days: value(['expiry_days', 'expiryDays'], 7),
    keeps_calm: value(['keeps_calm', 'keepsCalm'], true),
    preset: preset.id,
  };
}

export async function savePreset(id: string | null, persona: Persona, description: string) {
  const { preset: _, ...body } = persona;
  const sent = { ...body, description };
  if (id) await change('PATCH', at('presets', id), sent);
  else await change('POST', '/presets', sent);
  await refreshPresets();
}

export async function deletePreset(id: string) {
  await change('DELETE', at('presets', id));
  await refreshPresets();
}
