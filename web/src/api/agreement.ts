// The page's types beside those that are generated from the server's document: a field that is sent otherwise than the
// page reads it does not compile. Nothing of this is in the built page.
import type { components } from './schema';
import type * as page from './types';

type Sent = components['schemas'];

/** A type without what a schema cannot say: which words a string may be, and whether what is missing is null or not there. */
type Plain<T> = T extends string ? string
  : T extends number ? number
  : T extends boolean ? boolean
  : T extends readonly (infer Each)[] ? Plain<Each>[]
  : T extends object ? { [Name in keyof T]?: Plain<NonNullable<T[Name]>> }
  : T;

/** Compiles where the server sends each field that the page reads, and nothing in it that the page does not expect. */
type Agrees<Read, Wire extends Plain<Read> & Record<keyof Read, unknown>> = Wire;
type Of<Name extends keyof Sent> = Required<Plain<Sent[Name]>>;

export type Agreed = [
  Agrees<page.Conversation, Of<'Conversation'>>,
  Agrees<page.Topic, Of<'TopicView'>>,
  Agrees<page.Pruning, Of<'PruningView'>>,
  Agrees<page.SessionUsage, Of<'SessionTokens'>>,
  Agrees<page.Settings, Of<'SettingsBody'>>,
  Agrees<page.Summary, Of<'SummaryView'>>,
  Agrees<page.Persona, Of<'PersonaBody'>>,
  Agrees<page.SessionItem, Of<'SessionItemView'>>,
  Agrees<page.ItemUsage, Of<'ItemUsageView'>>,
  Agrees<page.AgentUsage, Of<'AgentUsageView'>>,
  Agrees<page.AgentItem, Of<'OfferedItem'>>,
  Agrees<page.Agent, Of<'AgentView'>>,
  Agrees<page.PausedTurn, Of<'PausedTurn'>>,
  Agrees<page.AwaitedCall, Of<'AwaitedCallView'>>,
  Agrees<page.ToolRule, Of<'RuleView'>>,
  Agrees<page.FailureCause, Of<'FailureCause'>>,
  Agrees<page.TurnBrief, Of<'TurnBrief'>>,
  Agrees<page.Cost, Of<'CostView'>>,
  Agrees<page.Me, Of<'Me'>>,
  Agrees<page.EntityMention, Of<'MentionView'>>,
  Agrees<page.Usage, Of<'TokenUsage'>>,
  Agrees<page.Turn, Of<'Turn'>>,
  Agrees<page.Stage, Of<'StageView'>>,
  Agrees<page.ToolExecution, Of<'ToolExecution'>>,
  Agrees<page.ContextBrief, Of<'ContextBrief'>>,
  Agrees<page.Budget, Of<'BudgetView'>>,
  Agrees<page.Receipt, Of<'ReceiptView'>>,
  Agrees<page.ReceiptCall, Of<'ReceiptCall'>>,
  Agrees<page.Piece, Of<'PieceView'>>,
  Agrees<page.Source, Of<'SourceView'>>,
  Agrees<page.Share, Of<'Share'>>,
  Agrees<page.NewShare, Of<'NewShare'>>,
  Agrees<page.SharedConversation, Of<'SharedConversation'>>,
  Agrees<page.SharedTurn, Of<'SharedTurn'>>,
  Agrees<page.Erasure, Of<'Erasure'>>,
  Agrees<page.Entity, Of<'EntityShape'>>,
  Agrees<page.Preset, Of<'PresetView'>>,
  Agrees<page.Review, Of<'ReviewView'>>,
  Agrees<page.Tool, Of<'ToolView'>>,
  Agrees<page.Pinned, Of<'Pinned'>>,
  Agrees<page.SearchHit, Of<'SearchHitView'>>,
  Agrees<page.Health, Of<'Health'>>,
  Agrees<page.ContextStatistics, Of<'ContextStatistics'>>,
  Agrees<page.ServerStatus, Of<'ServerStatusView'>>,
  Agrees<page.Memory, Of<'Memory'>>,
];
