/**
 * AI SDK: a middleware with which a model remembers a session.
 *
 *     const model = wrapLanguageModel({ model: openai('…'), middleware: throughlineMiddleware({ session: 'user-1' }) });
 *
 * Throughline keeps the history: what was said before the last message of the user is replaced by the context that the server
 * prepares for it. Where the session is empty, the earlier messages of the prompt are recorded first. Instructions, files,
 * tools and the tool calls of the current exchange stay as they are. When the model has answered without calling a tool, the
 * exchange is recorded with the receipt of its context; a stream that fails or is cancelled with what was said so far.
 * The server's own tools are not declared here: `throughlineTools` offers them.
 *
 * The types below are what the middleware needs of the SDK's; they fit versions 6 and 7.
 */

import { type Exchange, Throughline } from './client.js';
import { ConflictError, NotFoundError } from './errors.js';
import { sessionId } from './session-id.js';
import type { ExecutionBody, PreparedContext, Settings, TurnFailure } from './types.js';

export { throughlineTools, type ToolsOptions } from './ai-sdk-tools.js';

export interface MiddlewareOptions {
  /** The session by any name, or how to find it from the call's `providerOptions.throughline`. */
  session: string | ((options: Record<string, unknown>) => string);
  client?: Throughline;
  /** Tokens that the context may take. */
  budgetTokens?: number;
  /** The agent and the settings of a session that does not exist yet. */
  agent?: string;
  settings?: Settings;
  /** Called where an exchange could not be recorded; the model's answer is returned all the same. Without it the error is thrown. */
  onRecordError?: (error: unknown) => void;
}

interface Part {
  type: string;
}
interface Message {
  role: string;
  content: unknown;
}
interface Params {
  prompt: Message[];
  providerOptions?: Record<string, Record<string, unknown> | undefined>;
}
interface Result {
  content: Part[];
}
interface StreamResult<Chunk> {
  stream: ReadableStream<Chunk>;
}
interface Pending {
  session: string;
  message: string;
  prepared: PreparedContext;
  tail: Message[];
}

export function throughlineMiddleware(options: MiddlewareOptions) {
  const client = options.client ?? new Throughline();
  const pending = new WeakMap<object, Pending>();

  async function record(params: object, text: string, parts: Part[], error?: TurnFailure): Promise<void> {
    const call = pending.get(params);
    const asks = parts.some((part) => part.type === 'tool-call' && !(part as { providerExecuted?: boolean }).providerExecuted);
    if (!call || asks) return;
    const earlier = call.tail.filter((message) => message.role === 'assistant').flatMap(textsOf);
    const exchange: Exchange = {
      message: call.message,
      reply: [...earlier, text].filter(Boolean).join('\n\n'),
      receipt: call.prepared,
      error,
      tool_executions: executions([...call.tail.flatMap(partsOf), ...parts]),
    };
    try {
      await client.sessions.record(call.session, exchange);
    } catch (failure) {
      if (!options.onRecordError) throw failure;
      options.onRecordError(failure);
    }
  }

  return {
    specificationVersion: 'v3' as const,

    async transformParams<P extends Params>({ params }: { params: P }): Promise<P> {
      const last = params.prompt.findLastIndex((message) => message.role === 'user');
      const message = last < 0 ? '' : textsOf(params.prompt[last]!).join('\n\n');
      if (!message.trim()) return params;
      const name =
        typeof options.session === 'string' ? options.session : options.session(params.providerOptions?.['throughline'] ?? {});
      const session = await sessionId(name);
      const earlier = params.prompt.slice(0, last).filter((other) => other.role !== 'system');
      const prepared = await prepare(client, options, session, message, earlier);
      const tail = params.prompt.slice(last + 1);
      const system = params.prompt.slice(0, last).filter((other) => other.role === 'system');
      const prompt = [...system, ...prompted(prepared, params.prompt[last]!), ...tail];
      const transformed = { ...params, prompt };
      pending.set(transformed, { session, message, prepared, tail });
      return transformed;
    },

    async wrapGenerate<R extends Result>({ doGenerate, params }: { doGenerate: () => PromiseLike<R>; params: Params }): Promise<R> {
      const result = await doGenerate(); // A call that fails is tried again by the SDK.
      await record(params, textsOf({ role: 'assistant', content: result.content }).join(''), result.content);
      return result;
    },

    async wrapStream<C extends Part, R extends StreamResult<C>>({
      doStream,
      params,
    }: {
      doStream: () => PromiseLike<R & StreamResult<C>>;
      params: Params;
    }): Promise<R> {
      const result = await doStream();
      const reader = (result as StreamResult<C>).stream.getReader();
      let text = '';
      let error: TurnFailure | undefined;
      const parts: Part[] = [];
      const stream = new ReadableStream<C>({
        async pull(controller) {
          const { value: chunk, done } = await reader.read();
          if (done) {
            await record(params, text, parts, error);
            return controller.close();
          }
          if (chunk.type === 'text-delta') text += (chunk as unknown as { delta: string }).delta;
          if (chunk.type === 'error') error = { code: 'model_failed', message: String((chunk as unknown as { error: unknown }).error) };
          if (chunk.type === 'tool-call' || chunk.type === 'tool-result') parts.push(chunk);
          controller.enqueue(chunk);
        },
        async cancel(reason) {
          await reader.cancel(reason);
          await record(params, text, parts, { code: 'cancelled', message: 'the stream was cancelled', cause: 'cancelled' });
        },
      });
      return { ...result, stream } as unknown as R;
    },
  };
}

async function prepare(client: Throughline, options: MiddlewareOptions, session: string, message: string, earlier: Message[]) {
  const { budgetTokens } = options;
  try {
    return await client.sessions.prepare(session, message, { budgetTokens });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  try {
    await client.sessions.create({ id: session, agent: options.agent, settings: options.settings });
    // What was said before there was a session.
    for (const exchange of exchanges(earlier)) await client.sessions.record(session, exchange);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error; // Another request has just created it.
  }
  return client.sessions.prepare(session, message, { budgetTokens });
}

/** The server's messages; the last one is the user's own, after what the server puts beside it. */
function prompted(prepared: PreparedContext, own: Message): Message[] {
  const messages: Message[] = prepared.request.messages.map(({ role, content }) => ({
    role,
    content: content.flatMap((block) => (wordsOf(block) ? [{ type: 'text', text: wordsOf(block)! }] : [])),
  }));
  const beside = (messages.pop()?.content as Part[] | undefined)?.slice(0, -1) ?? [];
  return [...messages, { ...own, content: [...beside, ...partsOf(own)] }];
}

/** What a block says; of a tool's result, what it gave. */
function wordsOf(block: { text?: string; content?: string }): string | undefined {
  return block.text ?? block.content;
}

function exchanges(messages: Message[]): Exchange[] {
  const found: Exchange[] = [];
  const calls: Part[][] = [];
  for (const message of messages) {
    const text = textsOf(message).join('\n\n');
    if (message.role === 'user') {
      found.push({ message: text || '(no text)', reply: '' });
      calls.push([]);
    } else if (found.length > 0) {
      const exchange = found.at(-1)!;
      if (message.role === 'assistant') exchange.reply = [exchange.reply, text].filter(Boolean).join('\n\n');
      calls.at(-1)!.push(...partsOf(message));
    }
  }
  return found.map((exchange, index) => ({ ...exchange, tool_executions: executions(calls[index]!) }));
}

function partsOf(message: Message): Part[] {
  if (typeof message.content === 'string') return [{ type: 'text', text: message.content } as Part];
  return Array.isArray(message.content) ? (message.content as Part[]) : [];
}

function textsOf(message: Message): string[] {
  return partsOf(message)
    .filter((part) => part.type === 'text')
    .map((part) => (part as unknown as { text: string }).text);
}

function executions(parts: Part[]): ExecutionBody[] {
  type Call = { toolCallId: string; toolName: string; input: unknown };
  type Done = { toolCallId: string; output?: { type: string; value?: unknown; reason?: string }; result?: unknown };
  const calls = parts.filter((part) => part.type === 'tool-call') as unknown as Call[];
  const results = parts.filter((part) => part.type === 'tool-result') as unknown as Done[];
  return calls.flatMap((call) => {
    const done = results.find((result) => result.toolCallId === call.toolCallId);
    if (!done) return [];
    const value = done.output?.value ?? done.output?.reason ?? done.result ?? '';
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const failed = done.output?.type.startsWith('error') || done.output?.type === 'execution-denied';
    const input = typeof call.input === 'string' ? parseOr(call.input) : call.input;
    return [{ ...called(call.toolName, input), ...(failed ? { error: text } : { result: text }) }];
  });
}

/** The tool that was called through `call_tool`, or the tool itself. */
function called(name: string, input: unknown): Pick<ExecutionBody, 'name' | 'arguments'> {
  const { tool, arguments: given } = (input ?? {}) as { tool?: unknown; arguments?: unknown };
  return name === 'call_tool' && typeof tool === 'string' ? { name: tool, arguments: given ?? {} } : { name, arguments: input };
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { input: text };
  }
}
