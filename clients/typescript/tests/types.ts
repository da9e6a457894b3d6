/** Checked by the compiler only: what the server sends fits our types, and the middleware fits the SDK's. */
import { wrapLanguageModel as wrap6, type LanguageModel as Model6, type ToolSet as Tools6 } from 'ai';
import { wrapLanguageModel as wrap7, type ToolSet as Tools7 } from 'ai-7';

import type { components } from '../../../web/src/api/schema.d.ts';
import { throughlineMiddleware, throughlineTools } from '../src/ai-sdk.ts';
import type * as ours from '../src/types.ts';

type Sent = components['schemas'];
type Fits<Value extends Type, Type> = Value;

export type Answers = [
  Fits<Sent['Conversation'], ours.Conversation>,
  Fits<Sent['Conversations'], ours.Conversations>,
  Fits<Sent['History'], ours.History>,
  Fits<Sent['TurnBrief'], ours.TurnBrief>,
  Fits<Sent['Turn'], ours.Turn>,
  Fits<Sent['RecordedView'], ours.RecordedView>,
  Fits<Sent['ReceiptView'], ours.ReceiptView>,
  Fits<Sent['ChatReply'], ours.ChatReply>,
  Fits<Sent['QueryReply'], ours.QueryReply>,
  Fits<Sent['Erasure'], ours.Erasure>,
  Fits<Sent['TurnErasure'], ours.TurnErasure>,
  Fits<Sent['NewShare'], ours.NewShare>,
  Fits<Sent['Shares'], ours.Shares>,
  Fits<Sent['ErasedUser'], ours.ErasedUser>,
  Fits<Sent['Memory'], ours.Memory>,
  Fits<Sent['KeptMemory'], ours.KeptMemory>,
  Fits<Sent['FoundMemory'], ours.FoundMemory>,
  Fits<Sent['Memories'], ours.MemoryPage>,
  Fits<Sent['ForgottenMemories'], ours.ForgottenMemories>,
  Fits<Sent['ToolResult'], ours.ToolResult>,
  Fits<Sent['Found'], ours.Found>,
];
export type Bodies = [Fits<ours.ExecutionBody, Sent['ExecutionBody']>, Fits<Omit<ours.Settings, 'preferences'>, Partial<Sent['SettingsBody']>>];

declare const model6: Parameters<typeof wrap6>[0]['model'];
declare const model7: Parameters<typeof wrap7>[0]['model'];
const middleware = throughlineMiddleware({ session: 'a' });
export const wrapped: Model6 = wrap6({ model: model6, middleware });
export const wrapped7: ReturnType<typeof wrap7> = wrap7({ model: model7, middleware });
export const tools6: Tools6 = throughlineTools({ session: 'user-1' });
export const tools7: Tools7 = throughlineTools({ session: 'user-1' });
