// Server-sent events out of a fetch body. EventSource cannot POST or send a key, hence our own.

export interface SentEvent {
  event: string;
  data: string;
}

/** Cuts text that arrives in arbitrary parts into events. Keep one per stream. */
export class EventCutter {
  private rest = '';
  private event = '';
  private data: string[] = [];
  private atStart = true;

  push(text: string): SentEvent[] {
    if (this.atStart && text.length > 0) {
      text = text.replace(/^\uFEFF/, '');
      this.atStart = false;
    }
    this.rest += text;
    const events: SentEvent[] = [];
    for (;;) {
      const end = this.rest.search(/\r\n|\n|\r/);
      // A lone CR at the very end may be half of a CRLF: wait for more.
      if (end < 0 || (this.rest[end] === '\r' && end === this.rest.length - 1)) break;
      const line = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + (this.rest.startsWith('\r\n', end) ? 2 : 1));
      this.line(line, events);
    }
    return events;
  }

  private line(line: string, events: SentEvent[]) {
    if (line === '') {
      if (this.data.length > 0) events.push({ event: this.event || 'message', data: this.data.join('\n') });
      this.event = '';
      this.data = [];
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.event = value;
    if (field === 'data') this.data.push(value);
  }
}

/** The events of a response, until it ends. */
export async function* events(response: Response): AsyncGenerator<SentEvent> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const cutter = new EventCutter();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield* cutter.push(value);
  }
}
