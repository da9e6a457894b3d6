/**
 * AI SDK: two tools that lead to all tools of a session's agent.
 *
 *     generateText({ model, prompt, tools: throughlineTools({ session: 'user-1' }), stopWhen: stepCountIs(8) });
 *
 * `find_tools` returns definitions and `call_tool` calls one, on the server and under the session's rules. A call that needs approval is not
 * made, and the model is told so, unless `approve` says otherwise. The types are what the tools need of the SDK's; they fit versions 6 and 7.
 */

import { Throughline } from './client.js';
import { ApiError, NotFoundError } from './errors.js';
import { sessionId } from './session-id.js';
import type { Settings } from './types.js';

export interface ToolsOptions {
  /** The session by any name, as in the middleware. */
  session: string;
  client?: Throughline;
  /** Whether a call may be made that needs approval: always, or as the program decides for each. */
  approve?: boolean | ((call: { tool: string; arguments: Record<string, unknown> }) => boolean | PromiseLike<boolean>);
  /** The agent and the settings of a session that does not exist yet. */
  agent?: string;
  settings?: Settings;
}

interface Find {
  query: string;
}
interface Call {
  tool: string;
  arguments?: Record<string, unknown>;
}

export function throughlineTools(options: ToolsOptions) {
  const client = options.client ?? new Throughline();

  async function call(name: string, args: Record<string, unknown>, approve = false): Promise<string> {
    const session = await sessionId(options.session);
    const make = () => client.sessions.call(session, name, args, { approve });
    const { ok, result } = await make().catch(async (error: unknown) => {
      if (!(error instanceof NotFoundError && error.code === 'no_session')) throw error;
      await client.sessions.create({ id: session, agent: options.agent, settings: options.settings });
      return make();
    });
    if (!ok) throw new Error(result); // The SDK tells the model.
    return result;
  }

  return {
    find_tools: {
      description: 'Finds tools by what they do, or definitions by name.',
      inputSchema: schema<Find>({ query: { type: 'string' } }, ['query']),
      execute: ({ query }: Find) => call('find_tools', { query }),
    },
    call_tool: {
      description: 'Calls a tool that find_tools returned.',
      inputSchema: schema<Call>({ tool: { type: 'string' }, arguments: { type: 'object' } }, ['tool', 'arguments']),
      async execute({ tool, arguments: args = {} }: Call): Promise<string> {
        try {
          return await call('call_tool', { tool, arguments: args }, options.approve === true);
        } catch (error) {
          const waits = error instanceof ApiError && error.code === 'approval_needed';
          if (!waits || typeof options.approve !== 'function') throw error;
          if (!(await options.approve({ tool, arguments: args }))) throw new Error(`${error.detail}; it was refused`);
          return call('call_tool', { tool, arguments: args }, true);
        }
      },
    },
  };
}

/** A Standard Schema with its JSON Schema; the server checks the arguments. */
function schema<T>(properties: Record<string, { type: 'string' | 'object' }>, required: string[]) {
  const json = (): Record<string, unknown> => ({ type: 'object', properties, required, additionalProperties: false });
  const validate = (value: unknown) => ({ value: value as T });
  const types = undefined as { input: T; output: T } | undefined;
  return { '~standard': { version: 1 as const, vendor: 'throughline', types, validate, jsonSchema: { input: json, output: json } } };
}
