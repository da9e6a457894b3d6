/** Client of Throughline. The middleware for the AI SDK is in `throughline/ai-sdk`. */

export * from './client.js';
export type { Options } from './connection.js';
export * from './errors.js';
export type { ChatEvent } from './events.js';
export type * from './types.js';

/** The package's version, which is the server's. */
export const version = '0.1.0';
