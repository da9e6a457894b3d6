// Messages that the server has not confirmed, one for each session. They outlive a reload, so nothing that
// somebody wrote is lost because a server or a network failed.
//
// Invariant: a message is put here before it is sent, and taken out when its turn is known to be stored.
import { signal } from '@preact/signals';
import { keep, keptValue, onChangedElsewhere } from './kept';
import type { Attachment } from '../text/file';
import type { NewSession } from './sessions';

export interface Outgoing {
  session: string;
  message: string;
  attachments: Attachment[];
  /** The idempotency key: sent again, it never makes a second turn. */
  key: string;
  /** Turns of the session when it was sent; it becomes a later one. */
  turnsBefore: number;
  /** How the session is made, where it does not exist yet. */
  wanted: NewSession | null;
  withoutModel?: boolean;
}

const NAME = 'outbox';

type Messages = Record<string, Outgoing>;
const stored = () => keptValue<Messages>(NAME) ?? {};

export const outbox = signal<Messages>(stored());
onChangedElsewhere(NAME, () => (outbox.value = stored()));

function set(messages: Messages) {
  outbox.value = messages;
  keep(NAME, Object.keys(messages).length > 0 ? messages : null);
}

export function put(message: Outgoing) {
  set({ ...stored(), [message.session]: message });
}

export function take(session: string) {
  const { [session]: _, ...others } = { ...outbox.value, ...stored() };
  set(others);
}

/** The message to a session that was never made, if there is one. */
export function unstarted(): Outgoing | null {
  return Object.values(outbox.value).find((message) => message.wanted !== null) ?? null;
}
