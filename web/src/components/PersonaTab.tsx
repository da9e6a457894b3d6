// How the assistant carries itself in this session, and until when the session lasts.
import { useSignal } from '@preact/signals';
import type { Conversation, Persona } from '../api/types';
import { offered } from '../state/catalogue';
import { attempt, tell } from '../state/notices';
import { session as open } from '../state/session';
import { patchSession } from '../state/sessions';
import { personaOf } from '../state/presets';
import { ago, moment } from '../text/numbers';
import { PersonaForm } from './PersonaForm';

const BLANK: Persona = {
  name: '', system_prompt: '', personality: '', temperature: 0.7, reply_tokens_max: 1000, history_tokens_max: 15000, expiry_days: 7, keeps_calm: true,
};

export function PersonaTab({ session }: { session: Conversation }) {
  const editing = useSignal<Persona | null>(null);
  const change = async (patch: Record<string, unknown>, said: string | ((now: Conversation) => string)) => {
    const now = await patchSession(session.id, patch, session.version);
    open.value = now;
    editing.value = null;
    tell(typeof said === 'string' ? said : said(now));
  };
  if (editing.value) {
    return <PersonaForm start={editing.value} onCancel={() => (editing.value = null)} onSave={(persona) => change({ persona }, 'The persona holds from the next message on.')} />;
  }
  const { persona } = session;
  return (
    <div class="persona">
      <section>
        <h2>{persona ? persona.name : 'No persona'}</h2>
        {persona
          ? <>
              {persona.personality && <p>{persona.personality}</p>}
              <pre tabIndex={0}>{persona.system_prompt}</pre>
              <dl class="facts fine">
                <div><dt>Temperature</dt><dd>{persona.temperature.toFixed(1)}</dd></div>
                <div><dt>Reply up to</dt><dd>{persona.reply_tokens_max} tokens</dd></div>
                <div><dt>History up to</dt><dd>{persona.history_tokens_max} tokens</dd></div>
                <div><dt>Stays calm</dt><dd>{persona.keeps_calm ? 'a reminder goes with heated messages' : 'no reminder'}</dd></div>
              </dl>
            </>
          : <p class="quiet">Replies follow the instructions of the agent alone.</p>}
        <div class="actions start">
          <button class="button small" onClick={() => (editing.value = persona ?? BLANK)}>{persona ? 'Edit' : 'Write one'}</button>
          {offered.value.length > 0 && (
            <label class="field inline"><span class="hidden">Choose a preset</span>
              <select value="" onChange={(event) => {
                const preset = offered.value.find((known) => known.id === event.currentTarget.value);
                if (preset) void attempt(() => change({ persona: personaOf(preset) }, `The session now follows ${preset.name}.`));
              }}>
                <option value="">Choose a preset…</option>
                {offered.value.map((preset) => <option key={preset.id} value={preset.id}>{preset.name}</option>)}
              </select>
            </label>
          )}
          {persona && <button class="button small danger-text" onClick={() => attempt(() => change({ persona: null }, 'Removed.'))}>Remove</button>}
        </div>
      </section>
      <section>
        <h2>Expiry</h2>
        <p>{session.expires_at ? <>Expires {ago(session.expires_at)}, on {moment(session.expires_at)}. Every message extends it.</> : 'This session does not expire.'}</p>
        {session.expires_at && (
          <div class="actions start" role="group" aria-label="Extend">
            <span class="quiet">Extend, from now, by</span>
            {[7, 30, 365].map((days) => <button key={days} class="button small" onClick={() => attempt(() => change({ extend_days: days }, ({ expires_at: until }) => (until ? `Expires ${ago(until)}.` : 'It does not expire.')))}>{days} days</button>)}
          </div>
        )}
      </section>
    </div>
  );
}
