// Presets: stored starting points for personas.
import { at, change } from '../api/client';
import type { Persona, Preset } from '../api/types';
import { refreshPresets } from './catalogue';

/** The persona that a preset starts. */
export function personaOf(preset: Preset): Persona {
  const { settings } = preset;
  return {
    name: preset.name,
    system_prompt: preset.system_prompt,
    personality: preset.personality,
    temperature: settings.temperature,
    reply_tokens_max: settings.max_tokens,
    history_tokens_max: settings.max_history_tokens,
    expiry_days: settings.expiry_days,
    keeps_calm: true,
    preset: preset.id,
  };
}

/** Makes a preset, or changes the one with that id. */
export async function savePreset(id: string | null, persona: Persona, description: string) {
  const body = {
    name: persona.name,
    description,
    system_prompt: persona.system_prompt,
    personality: persona.personality,
    settings: {
      temperature: persona.temperature,
      max_tokens: persona.reply_tokens_max,
      max_history_tokens: persona.history_tokens_max,
      expiry_days: persona.expiry_days,
    },
  };
  if (id) await change('PATCH', at('presets', id), body);
  else await change('POST', '/presets', body);
  await refreshPresets();
}

export async function deletePreset(id: string) {
  await change('DELETE', at('presets', id));
  await refreshPresets();
}
