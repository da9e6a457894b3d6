/** The events of a chat while it is answered (`text/event-stream`). */

import { errorFor } from './errors.js';
import type { ChatReply } from './types.js';

export type ChatEvent =
  | { name: 'delta'; data: { text: string } }
  | { name: 'done'; data: ChatReply }
  | { name: 'context' | 'tool_call' | 'tool_result' | 'approval' | 'usage'; data: Record<string, unknown> };

/** Events from bytes. The server's `error` event is thrown as an `ApiError`. Leaving the loop ends the stream. */
export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<ChatEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      rest = (rest + (value ?? '')).replaceAll('\r\n', '\n');
      let end: number;
      while ((end = rest.indexOf('\n\n')) >= 0) {
        const event = parse(rest.slice(0, end));
        rest = rest.slice(end + 2);
        if (event) yield event;
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parse(block: string): ChatEvent | undefined {
  let name = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const [, field, value] = /^(event|data): ?(.*)$/.exec(line) ?? [];
    if (field === 'event') name = value ?? '';
    if (field === 'data') data.push(value ?? '');
  }
  if (data.length === 0) return undefined;
  const fields = JSON.parse(data.join('\n'));
  if (name === 'error') throw errorFor(fields.status ?? 500, fields);
  return { name, data: fields } as ChatEvent;
}
