// Presets: the list, and an editor for one.
import { useSignal } from '@preact/signals';
import type { Persona, Preset, Review } from '../api/types';
import { presets } from '../state/catalogue';
import { attempt, tell } from '../state/notices';
import { deletePreset, personaOf, restorePreset, savePreset } from '../state/presets';
import { Dialog } from './Dialog';
import { Icon } from './Icon';
import { Page } from './Page';
import { PersonaForm } from './PersonaForm';

const BLANK: Preset = {
  id: '', name: '', description: '', systemPrompt: '', defaultPersonality: '', isActive: true, isBuiltIn: false, experimental: false,
  defaultSettings: { temperature: 0.7, maxTokens: 1000, maxHistoryTokens: 15000, expiryDays: 7 },
};

export function PersonasPage() {
  const edited = useSignal<Preset | null>(null);
  const review = useSignal<{ name: string; said: Review } | null>(null);
  const save = async (persona: Persona, description: string) => {
    review.value = { name: persona.name, said: await savePreset(edited.value?.id || null, persona, description) };
    edited.value = null;
    tell('Saved.');
  };
  return (
    <Page title="Personas" lead="How an assistant carries itself. A session keeps its own copy of the preset it started from."
      actions={<button class="button primary small" onClick={() => (edited.value = BLANK)}><Icon name="plus" size={15} /> New preset</button>}>
      {review.value && <ReviewNote name={review.value.name} review={review.value.said} onClose={() => (review.value = null)} />}
      <div class="cards">
        {presets.value.map((preset) => <PresetCard key={preset.id} preset={preset} onEdit={() => (edited.value = preset)} />)}
      </div>
      {presets.value.length === 0 && <p class="quiet">There are no presets yet.</p>}
      {edited.value && (
        <Dialog title={edited.value.name || 'New preset'} wide onClose={() => (edited.value = null)}>
          {edited.value.isBuiltIn && <p class="quiet">This one comes with the product; your change holds for you alone and can be taken back.</p>}
          <PersonaForm start={personaOf(edited.value)} description={edited.value.description} onSave={save} onCancel={() => (edited.value = null)} />
        </Dialog>
      )}
    </Page>
  );
}

/** What the server thinks of the prompt that was just saved. */
function ReviewNote({ name, review, onClose }: { name: string; review: Review; onClose: () => void }) {
  return (
    <section class="card">
      <h2>The prompt of {name} scores {review.score} of 100{review.effective ? ': good as it is' : '; it is saved, and this would make it stronger'}</h2>
      {review.advice.length > 0 && <ul class="plain">{review.advice.map(({ aspect, advice }) => <li key={aspect}><span class="badge">{aspect}</span> {advice}</li>)}</ul>}
      <div class="actions start"><button class="button small" onClick={onClose}>Close</button></div>
    </section>
  );
}

function PresetCard({ preset, onEdit }: { preset: Preset; onEdit: () => void }) {
  const { temperature, expiryDays } = preset.defaultSettings;
  return (
    <section class="card preset" data-active={preset.isActive}>
      <h2>{preset.name} {preset.isBuiltIn && <span class="badge">built in</span>} {preset.experimental && <span class="badge" data-mode="manual" title="Its wording may still change between versions">experimental</span>} {!preset.isActive && <span class="badge">not offered</span>}</h2>
      <p>{preset.description || preset.defaultPersonality || preset.systemPrompt.slice(0, 160)}</p>
      <p class="quiet">temperature {temperature.toFixed(1)} · expires after {expiryDays} days</p>
      <div class="actions start">
        <button class="button small" onClick={onEdit}>Edit</button>
        {preset.isBuiltIn && <button class="button small" onClick={() => attempt(() => restorePreset(preset.id))}>Restore</button>}
        {preset.isActive && <button class="button small danger-text" onClick={() => attempt(() => deletePreset(preset.id))}>{preset.isBuiltIn ? 'Do not offer' : 'Delete'}</button>}
      </div>
    </section>
  );
}
