// A new session: which agent, which persona, and a first message. On an empty store it also shows around.
import { useSignal } from '@preact/signals';
import { agents, defaultAgent, health, offered } from '../state/catalogue';
import { startSession } from '../state/chat';
import { live } from '../state/live';
import { unstarted } from '../state/outbox';
import { once } from '../state/notices';
import { resetDemo, STEPS, tourAgent } from '../state/tour';
import type { Attachment } from '../text/file';
import { Composer } from './Composer';
import { MenuButton } from './ConversationHead';
import { ModelNote } from './ModelNote';
import { AgentPicker, ModelPicker } from './Pickers';
import { Unsent } from './Unsent';

export function Starter() {
  const agent = useSignal('');
  const preset = useSignal('');
  const model = useSignal('');
  const chosen = agent.value || tourAgent() || defaultAgent.value || '';
  const begin = (message: string, attachments: Attachment[] = []) => startSession({
    ...(chosen ? { agent: chosen } : {}),
    ...(preset.value ? { preset: preset.value } : {}),
    settings: { timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, ...(model.value ? { model: model.value } : {}) },
  }, message, { attachments });
  const guided = chosen === tourAgent();
  const waiting = unstarted();
  const now = waiting && live.value?.session === waiting.session ? live.value : null;
  return (
    <div class="starter">
      <header class="head bare"><MenuButton /></header>
      <div class="starter-body">
        <h1>Start a conversation</h1>
        <p class="lead">Throughline keeps its thread: what was said and done, which things it is about, and for every answer exactly what the model was shown.</p>
        <div class="choices">
          {agents.value.length > 0 && (
            <label class="field"><span>Agent</span><AgentPicker value={chosen} onChange={(name) => (agent.value = name)} /></label>
          )}
          {(health.value?.models.length ?? 0) > 1 && (
            <label class="field"><span>Model</span><ModelPicker value={model.value} onChange={(name) => (model.value = name)} /></label>
          )}
          {offered.value.length > 0 && (
            <label class="field"><span>Persona</span>
              <select value={preset.value} onChange={(event) => (preset.value = event.currentTarget.value)}>
                <option value="">None</option>
                {offered.value.map((known) => <option key={known.id} value={known.id}>{known.name}</option>)}
              </select>
            </label>
          )}
        </div>
        {guided && (
          <section class="tour" aria-label="Try these">
            <h2>Two minutes, no key</h2>
            <ol>
              {STEPS.map((step, index) => (
                <li key={step.message}>
                  <button class="step" onClick={() => once('start', () => resetDemo().then(() => void begin(step.message)))} disabled={index > 0} title={index > 0 ? 'Offered after the one before' : undefined}>
                    <span class="step-number">{index + 1}</span>
                    <span class="step-words"><strong>{step.message}</strong><span>{step.shows}</span></span>
                  </button>
                </li>
              ))}
            </ol>
            <p class="quiet">Start with the first; each next one is offered below the reply. The line under a reply shows what went into it. Each start undoes what earlier runs changed in the demo's data.</p>
          </section>
        )}
        <ModelNote />
      </div>
      <div class="conversation-foot">
        {waiting && now?.state !== 'running' && (
          <div class="unstarted">
            <div class="said"><p>{waiting.message}</p></div>
            <Unsent session={waiting.session} problem={now?.problem ?? null} />
          </div>
        )}
        <Composer focus session={null} onSend={begin} />
      </div>
    </div>
  );
}
