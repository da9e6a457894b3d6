// A request in parts that a person can read: in the engine's own form, or in the form of a provider's client that
// was handed on as it was.
import { bytes } from './numbers';

export interface Part {
  title: string;
  role: string;
  text: string;
  /** In bytes; tools count as they are sent. */
  size: number;
}

interface Block {
  type?: string;
  text?: string;
  name?: string;
  input?: unknown;
  content?: unknown;
  media_type?: string;
  data?: string;
}

type Content = string | Block[] | null | undefined;

interface Request {
  system?: Content;
  messages?: { role: string; content?: Content; tool_calls?: { function?: { name: string; arguments: string } }[] }[];
  tools?: { name?: string; description?: string; function?: { name: string; description?: string } }[];
}

function words(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === null || content === undefined ? '' : JSON.stringify(content);
  return content.map((block: Block) => {
    if (block.type === 'tool_use') return `calls ${block.name} ${JSON.stringify(block.input)}`;
    if (block.type === 'tool_result') return `result: ${words(block.content)}`;
    if (block.type === 'image') return `picture, ${block.media_type ?? ''} ${bytes(Math.floor(((block.data ?? '').length * 3) / 4))}`;
    return block.text ?? JSON.stringify(block);
  }).join('\n\n');
}

const ROLES: Record<string, string> = { user: 'User', assistant: 'Assistant', tool: 'Tool result', system: 'Instructions', developer: 'Instructions' };

export function partsOf(json: string): Part[] {
  const request = JSON.parse(json) as Request;
  const tools = (request.tools ?? []).map((tool) => `${tool.name ?? tool.function?.name ?? ''}: ${tool.description ?? tool.function?.description ?? ''}`);
  const system = words(request.system);
  const size = (text: string) => new TextEncoder().encode(text).length;
  const parts = [
    ...(tools.length > 0 ? [{ title: tools.length === 1 ? '1 tool' : `${tools.length} tools`, role: 'tools', text: tools.join('\n'), size: size(JSON.stringify(request.tools)) }] : []),
    ...(system ? [{ title: 'Instructions', role: 'system', text: system }] : []),
    ...(request.messages ?? []).map(({ role, content, tool_calls: calls }) => ({
      title: ROLES[role] ?? role, role,
      text: [words(content), ...(calls ?? []).map((call) => `calls ${call.function?.name} ${call.function?.arguments}`)].filter(Boolean).join('\n\n'),
    })),
  ];
  return parts.map((part) => ({ size: size(part.text), ...part }));
}
