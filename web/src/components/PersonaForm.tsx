// The editor of a persona: every field with what is wrong with it beside it.
import { useSignal } from '@preact/signals';
import type { Persona } from '../api/types';
import { Problem } from '../api/client';
import { sentence } from '../state/notices';
import { complaints } from '../text/persona';
import { Field } from './Field';

export interface PersonaFormProps {
  start: Persona;
  description?: string;
  onSave: (persona: Persona, description: string) => Promise<void>;
  onCancel: () => void;
}

export function PersonaForm({ start, description, onSave, onCancel }: PersonaFormProps) {
  const persona = useSignal<Persona>(start);
  const about = useSignal(description ?? '');
  const tried = useSignal(false);
  const saving = useSignal(false);
  const refused = useSignal<Problem | null>(null);
  const wrong = complaints(persona.value);
  const shown = tried.value ? wrong : {};
  const set = (change: Partial<Persona>) => (persona.value = { ...persona.value, ...change });
  const number = (name: 'temperature' | 'reply_tokens_max' | 'history_tokens_max' | 'expiry_days', label: string, step: number) => (
    <Field label={label} wrong={shown[name]}>
      <input type="number" step={step} value={persona.value[name]} onInput={(event) => set({ [name]: event.currentTarget.valueAsNumber })} />
    </Field>
  );
  const save = async () => {
    tried.value = true;
    refused.value = null;
    if (Object.keys(wrong).length > 0 || saving.value) return;
    saving.value = true;
    try {
      await onSave(persona.value, about.value);
    } catch (error) {
      refused.value = Problem.from(error);
    }
    saving.value = false;
  };
  return (
    <form class="persona-form" onSubmit={(event) => { event.preventDefault(); void save(); }} noValidate>
      <Field label="Name" wrong={shown.name}><input value={persona.value.name} onInput={(event) => set({ name: event.currentTarget.value })} /></Field>
      {description !== undefined && <Field label="Description"><input value={about.value} onInput={(event) => (about.value = event.currentTarget.value)} /></Field>}
      <Field label="Prompt" wrong={shown.system_prompt}><textarea rows={7} value={persona.value.system_prompt} onInput={(event) => set({ system_prompt: event.currentTarget.value })} /></Field>
      <Field label="Character" wrong={shown.personality}><textarea rows={2} value={persona.value.personality} onInput={(event) => set({ personality: event.currentTarget.value })} /></Field>
      <div class="fields">
        {number('temperature', 'Temperature', 0.1)}
        {number('reply_tokens_max', 'Reply tokens', 100)}
        {number('history_tokens_max', 'History tokens', 1000)}
        {number('expiry_days', 'Expires after days', 1)}
      </div>
      <label class="check"><input type="checkbox" checked={persona.value.keeps_calm} onChange={(event) => set({ keeps_calm: event.currentTarget.checked })} /> Remind it to stay calm when a message is heated</label>
      {refused.value && <p class="wrong" role="alert">{sentence(refused.value.message)} {sentence(refused.value.hint)}</p>}
      <div class="actions">
        <button type="button" class="button" onClick={onCancel}>Cancel</button>
        <button class="button primary">Save</button>
      </div>
    </form>
  );
}
