// Which agent a conversation has, and which model answers.
import { agents, defaultAgent, health } from '../state/catalogue';

interface PickerProps {
  value: string | null;
  onChange: (value: string) => void;
  disabled?: boolean;
}

export function AgentPicker({ value, onChange, disabled }: PickerProps) {
  const chosen = value ?? defaultAgent.value ?? '';
  const known = agents.value.map(({ name }) => name);
  return (
    <select aria-label="Agent" title="Agent" value={chosen} disabled={disabled} onChange={(event) => onChange(event.currentTarget.value)}>
      {!known.includes(chosen) && <option value={chosen}>{chosen || 'default agent'}</option>}
      {known.map((name) => <option key={name} value={name}>{name}</option>)}
    </select>
  );
}

/** Nothing where there is no choice: without models replies are made without one. */
export function ModelPicker({ value, onChange, disabled }: PickerProps) {
  const models = health.value?.models ?? [];
  if (models.length === 0) return null;
  return (
    <select aria-label="Model" title="Model" value={value ?? ''} disabled={disabled} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{models.length > 1 ? 'default model' : models[0]}</option>
      {(models.length > 1 || (value && !models.includes(value))) && [...new Set([...models, ...(value ? [value] : [])])].map((name) => <option key={name} value={name}>{name}</option>)}
    </select>
  );
}
