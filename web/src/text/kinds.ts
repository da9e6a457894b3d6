// The kinds of pieces that the page tells apart, in the order of its sections, and how a source reads.
import type { IncludeMode, Piece, Source } from '../api/types';

export type Kind =
  | 'instructions' | 'rules' | 'references' | 'tools' | 'summary' | 'entities' | 'history' | 'recalled' | 'message';

export const KINDS: { kind: Kind; label: string }[] = [
  { kind: 'rules', label: 'Rules' },
  { kind: 'references', label: 'References' },
  { kind: 'tools', label: 'Tools' },
  { kind: 'history', label: 'History' },
  { kind: 'recalled', label: 'Recalled' },
  { kind: 'entities', label: 'Entities' },
  { kind: 'summary', label: 'Summary' },
  { kind: 'instructions', label: 'Instructions' },
  { kind: 'message', label: 'Message' },
];

const KIND_OF: Record<Source['kind'], Kind> = {
  instructions: 'instructions',
  persona: 'instructions',
  calm: 'instructions',
  preferences: 'instructions',
  given: 'instructions',
  rule: 'rules',
  reference: 'references',
  tool: 'tools',
  tool_names: 'tools',
  summary: 'summary',
  topic: 'entities',
  entity: 'entities',
  recalled: 'recalled',
  elsewhere: 'recalled',
  fact: 'recalled',
  earlier_result: 'recalled',
  history: 'history',
  message: 'message',
  client_request: 'message',
  day: 'instructions',
};

export function kindOf(source: Source): Kind {
  return KIND_OF[source.kind] ?? 'instructions';
}

export function labelOf(kind: Kind): string {
  return KINDS.find((entry) => entry.kind === kind)?.label ?? kind;
}

const PART = { message: 'what you said', results: 'tool results', reply: 'the reply' };

/** A source in words: "inventory:list_devices", "turn 3, the reply". */
export function nameOf(source: Source): string {
  switch (source.kind) {
    case 'instructions':
      return source.part.startsWith('mode/') ? `Guidance for ${source.part.slice(5)}` : `Instructions: ${source.part}`;
    case 'persona':
      return `Persona: ${source.name}`;
    case 'calm':
      return 'Reminder to stay calm';
    case 'preferences':
      return 'Preferences';
    case 'rule':
    case 'reference':
      return source.name;
    case 'tool':
      return source.server ? `${source.server}:${source.name}` : source.name;
    case 'tool_names':
      return `Named for call_tool: ${source.tools.map((tool) => `${tool.server}:${tool.name}`).join(', ')}`;
    case 'summary':
      return `Summary of turns ${source.from}–${source.to}`;
    case 'topic':
      return 'Topic, and how to use what is known';
    case 'entity':
      return `${source.entity} ${source.name}`;
    case 'history':
      return `Turn ${source.turn}, ${PART[source.part] ?? source.part}`;
    case 'recalled':
      return `Turn ${source.turn}, ${PART[source.part] ?? source.part}${source.excerpt ? ', excerpt' : ''}${source.on ? `, of ${source.on}` : ''}`;
    case 'elsewhere':
      return `Another conversation, turn ${source.turn}, ${PART[source.part] ?? source.part}${source.excerpt ? ', excerpt' : ''}, of ${source.on}`;
    case 'fact':
      return 'Something remembered about you';
    case 'earlier_result':
      return `Turn ${source.turn}, earlier result${source.on ? `, of ${source.on}` : ''}`;
    case 'day':
      return `The day, ${source.on}`;
    case 'client_request':
      return 'What the client sent itself';
    case 'given':
      return `Given: ${source.name}`;
    case 'message':
      return 'Your message';
    default:
      // A kind that a newer server knows.
      return (source as { kind: string }).kind.replaceAll('_', ' ');
  }
}

export function modeOf(source: Source): IncludeMode | null {
  return 'mode' in source ? source.mode : null;
}

/** The engine's reasons that read better in other words. */
const WHY: Record<string, string> = {
  'always first': 'our instructions, in every request',
  "the user's message": 'what you wrote',
  'came with the message': 'came with your message',
};

/** Why a piece is there, in plain words. */
export function whyOf(piece: Piece): string {
  const why = WHY[piece.why] ?? piece.why;
  return piece.since ? `${why}; in the request since turn ${piece.since}` : why;
}

const DROPPED: Record<string, string> = {
  over_window: 'the window was full and others ranked higher',
  over_history: 'the share for history was full',
  over_enrichment: 'the share for entities and recall was full',
  with_its_turn: 'the rest of its turn was dropped',
  not_relevant: 'not relevant enough to this message',
  already_present: 'it is in the request already',
  condensed: 'it is older than the window, and in the summary',
  missing: 'the item no longer exists',
  not_approved: 'its definition changed and is not approved',
};

export function droppedBecause(reason: string): string {
  return DROPPED[reason] ?? reason.replaceAll('_', ' ');
}

/** The same thing in two receipts has the same identity, whatever its text. */
export function identity(piece: Piece): string {
  return JSON.stringify({ ...piece.source, mode: undefined });
}
