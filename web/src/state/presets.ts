// Presets: stored starting points for personas.
import { at, change } from '../api/client';
import type { Persona, Preset, Review } from '../api/types';
import { refreshPresets } from './catalogue';

/** The persona that a preset starts. */
export function personaOf(preset: Preset): Persona {
  const { defaultSettings: settings } = preset;
  return {
    name: preset.name,
    system_prompt: preset.systemPrompt,
    personality: preset.defaultPersonality,
    temperature: settings.temperature,
    reply_tokens_max: settings.maxTokens,
    history_tokens_max: settings.maxHistoryTokens,
    expiry_days: settings.expiryDays,
    keeps_calm: true,
    preset: preset.id,
  };
}

/** Makes a preset, or changes the one with that id; answers what the server thinks of its prompt. */
export async function savePreset(id: string | null, persona: Persona, description: string): Promise<Review> {
  const body = {
    name: persona.name,
    description,
    systemPrompt: persona.system_prompt,
    defaultPersonality: persona.personality,
    defaultSettings: {
      temperature: persona.temperature,
      maxTokens: persona.reply_tokens_max,
      maxHistoryTokens: persona.history_tokens_max,
      expiryDays: persona.expiry_days,
    },
  };
  const saved = await (id ? change<{ review: Review }>('PATCH', at('presets', id), body) : change<{ review: Review }>('POST', '/presets', body));
  await refreshPresets();
  return saved.review;
}

/** Erases one's own preset; a built-in one is no longer offered and can be restored. */
export async function deletePreset(id: string) {
  await change('DELETE', at('presets', id));
  await refreshPresets();
}

/** Makes a built-in preset what it was. */
export async function restorePreset(id: string) {
  await change('POST', at('presets', id, 'restore'));
  await refreshPresets();
}
