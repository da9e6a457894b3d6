// A new session: which agent, which persona, and a first message. On an empty store it also shows around.
import { useSignal } from '@preact/signals';
import { sendMessage } from '../state/chat';
import { agents, defaultAgent, offered } from '../state/catalogue';
import { attempt } from '../state/notices';
import { addressOf, go } from '../state/route';
import { show } from '../state/session';
import { createSession, refreshSessions, type NewSession } from '../state/sessions';
import { STEPS, tourAgent } from '../state/tour';
import { Composer } from './Composer';
import { MenuButton } from './ConversationHead';
import { ModelNote } from './ModelNote';

async function start(wanted: NewSession, message: string) {
  const session = await createSession(wanted);
  show(session);
  go(addressOf(session.id));
  await refreshSessions();
  await sendMessage(session.id, message);
}

export function Starter() {
  const agent = useSignal('');
  const preset = useSignal('');
  const chosen = agent.value || tourAgent() || defaultAgent.value || '';
  const begin = (message: string) => attempt(() => start({
    ...(chosen ? { agent: chosen } : {}),
    ...(preset.value ? { preset: preset.value } : {}),
  }, message));
  const guided = chosen === tourAgent();
  return (
    <div class="starter">
      <header class="head bare"><MenuButton /></header>
      <div class="starter-body">
        <h1>Start a conversation</h1>
        <p class="lead">Throughline keeps its thread: what was said and done, which things it is about, and for every answer exactly what the model was shown.</p>
        <div class="choices">
          {agents.value.length > 0 && (
            <label class="field"><span>Agent</span>
              <select value={chosen} onChange={(event) => (agent.value = event.currentTarget.value)}>
                {agents.value.map((known) => <option key={known.name} value={known.name}>{known.name}</option>)}
              </select>
            </label>
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
                  <button class="step" onClick={() => begin(step.message)} disabled={index > 0} title={index > 0 ? 'Offered after the one before' : undefined}>
                    <span class="step-number">{index + 1}</span>
                    <span class="step-words"><strong>{step.message}</strong><span>{step.shows}</span></span>
                  </button>
                </li>
              ))}
            </ol>
            <p class="quiet">Start with the first; each next one is offered below the reply. The line under a reply opens what the model was shown for it.</p>
          </section>
        )}
        <ModelNote />
      </div>
      <div class="conversation-foot"><Composer focus session={null} onSend={begin} /></div>
    </div>
  );
}
