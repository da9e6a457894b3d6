// Presets: the list, and an editor for one.
import { useSignal } from '@preact/signals';
import type { Persona, Preset } from '../api/types';
import { presets } from '../state/catalogue';
import { attempt, tell } from '../state/notices';
import { deletePreset, personaOf, savePreset } from '../state/presets';
import { Dialog } from './Dialog';
import { Icon } from './Icon';
import { Page } from './Page';
import { PersonaForm } from './PersonaForm';

const BLANK: Preset = {
  id: '', name: '', description: '', system_prompt: '', personality: '',
  settings: { temperature: 0.7, max_tokens: 1000, max_history_tokens: 15000, expiry_days: 7 },
};

export function PersonasPage() {
  const edited = useSignal<Preset | null>(null);
  const save = async (persona: Persona, description: string) => {
    const id = edited.value?.built_in ? null : edited.value?.id || null;
    await savePreset(id, persona, description);
    edited.value = null;
    tell('Saved.');
  };
  return (
    <Page title="Personas" lead="How an assistant carries itself. A session keeps its own copy of the preset it started from."
      actions={<button class="button primary small" onClick={() => (edited.value = BLANK)}><Icon name="plus" size={15} /> New preset</button>}>
      <div class="cards">
        {presets.value.map((preset) => <PresetCard key={preset.id} preset={preset} onEdit={() => (edited.value = preset)} />)}
      </div>
      {presets.value.length === 0 && <p class="quiet">There are no presets yet.</p>}
      {edited.value && (
        <Dialog title={edited.value.id ? (edited.value.built_in ? `A copy of ${edited.value.name}` : edited.value.name) : 'New preset'} wide onClose={() => (edited.value = null)}>
          <PersonaForm start={personaOf(edited.value)} description={edited.value.description} onSave={save} onCancel={() => (edited.value = null)} />
        </Dialog>
      )}
    </Page>
  );
}

function PresetCard({ preset, onEdit }: { preset: Preset; onEdit: () => void }) {
  const persona = personaOf(preset);
  return (
    <section class="card preset">
      <h2>{preset.name} {preset.built_in && <span class="badge">built in</span>}</h2>
      <p>{preset.description || persona.personality || persona.system_prompt.slice(0, 160)}</p>
      <p class="quiet">temperature {persona.temperature.toFixed(1)} · expires after {persona.expiry_days} days</p>
      <div class="actions start">
        <button class="button small" onClick={onEdit}>{preset.built_in ? 'Copy and edit' : 'Edit'}</button>
        {!preset.built_in && <button class="button small danger-text" onClick={() => attempt(() => deletePreset(preset.id))}>Delete</button>}
      </div>
    </section>
  );
}
