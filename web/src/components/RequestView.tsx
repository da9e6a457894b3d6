// The request of a turn: readable, and the bytes that the provider was sent.
import { useSignal } from '@preact/signals';
import type { Turn } from '../api/types';
import { copy } from '../state/clipboard';
import { providerRequestOf, requestOf, type SentRequest } from '../state/receipts';
import { turns } from '../state/session';
import { bytes } from '../text/numbers';
import { partsOf } from '../text/request';
import { Dialog } from './Dialog';
import { Icon } from './Icon';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';

const FAILED = 'The model failed. This is the request before it was put into the format of its provider.';
const NOT_ASKED = 'No model was asked. This is what one would be shown, before it is put into the format of a provider.';

/** One request of a turn in both forms, and how many there were: one, and one after each round of calls. */
async function requestsAt(session: string, turn: number, round: number, asked: boolean) {
  const [own, sent, whole] = await Promise.all([requestOf(session, turn, round), asked ? providerRequestOf(session, turn, round) : null, turns.value!.whole(turn)]);
  return { own, sent, shown: round, all: requestsOf(whole) };
}

/** How many requests were sent: a turn that was stopped during a round of calls sent none after it. Turns of older servers have no stages. */
function requestsOf({ stages = [], tool_executions: calls }: Turn): number {
  return stages.filter(({ name }) => name.startsWith('model ')).length || Math.max(0, ...calls.map((call) => call.round)) + 1;
}

export function RequestView({ session, turn, asked }: { session: string; turn: number; asked: boolean }) {
  const wide = useSignal(false);
  const round = useSignal(1);
  const loaded = useLoaded(() => requestsAt(session, turn, round.value, asked), [session, turn, round.value, asked]);
  if (loaded.state !== 'here') return <Waiting loaded={loaded} />;
  const { own, sent, all, shown } = loaded.value;
  const body = sent ?? own;
  return (
    <div class="request">
      <p class="quiet">{sent ? `${all > 1 ? `Request ${shown} of ${all} of this turn` : 'The request of this turn'}, byte for byte as the provider was sent it.` : asked ? FAILED : NOT_ASKED}</p>
      {sent && all > 1 && (
        <label class="field inline"><span>Request</span>
          <select value={round.value} onChange={(event) => (round.value = Number(event.currentTarget.value))}>
            {Array.from({ length: all }, (_, index) => <option key={index} value={index + 1}>{index + 1} of {all}</option>)}
          </select>
        </label>
      )}
      <div class="actions start">
        <button class="button small" onClick={() => copy(body.text, `Copied the request of turn ${turn}.`)}><Icon name="copy" size={14} /> Copy {bytes(body.size)}</button>
        <button class="button small" onClick={() => (wide.value = true)}>Side by side</button>
      </div>
      <Readable request={own} />
      {wide.value && (
        <Dialog title={`The request of turn ${turn}`} huge onClose={() => (wide.value = false)}>
          <div class="beside">
            <section><h3>{sent ? 'As sent' : "The engine's form"}, {bytes(body.size)}</h3><pre class="raw" tabIndex={0}>{body.text}</pre></section>
            <section><h3>Readable</h3><div class="readable-scroll" tabIndex={0} role="region" aria-label="Readable"><Readable request={own} /></div></section>
          </div>
          <p class="quiet">Hash of these bytes <code class="hash">{body.hash}</code></p>
        </Dialog>
      )}
    </div>
  );
}

function Readable({ request }: { request: SentRequest }) {
  return (
    <ol class="readable">
      {partsOf(request.text).map((part, index) => (
        <li key={index} data-role={part.role}>
          <details open={part.role !== 'tools'}>
            <summary>{part.title} <span class="of">{bytes(part.size)}</span></summary>
            <pre tabIndex={0}>{part.text}</pre>
          </details>
        </li>
      ))}
    </ol>
  );
}
