// Ids in the arguments of a call, told by the names that are known for them.
import type { EntityRef } from '../api/types';

export interface NamedId {
  argument: string;
  id: string;
  type: string;
  name: string;
}

/** Arguments whose value is the id of a known thing. Things of two types may have the same id, so the argument must name the type. */
export function namesIn(values: unknown, known: EntityRef[]): NamedId[] {
  if (values === null || typeof values !== 'object') return [];
  return Object.entries(values).flatMap(([argument, value]) => {
    if (typeof value !== 'string' && typeof value !== 'number') return [];
    const id = String(value);
    const same = known.filter((entity) => entity.id === id && entity.name && entity.name !== id);
    const type = argument.toLowerCase().replace(/_?(id|name)$/, '');
    const typed = same.filter((entity) => entity.type.toLowerCase() === type);
    const [one, other] = [...new Map(typed.map((entity) => [entity.name, entity])).values()];
    return one && !other ? [{ argument, id, type: one.type, name: one.name! }] : [];
  });
}

/** The things that calls found: `list_devices` lists devices. */
export function foundBy(calls: { name: string; result?: unknown }[]): EntityRef[] {
  return calls.flatMap(({ name, result }) => {
    const type = name.toLowerCase().match(/^(?:list|get|find|search|show)_([a-z]+?)s?(?:_|$)/)?.[1];
    return type ? itemsOf(result).map((item) => ({ type, id: String(item.id), name: String(item.name) })) : [];
  });
}

type Item = { id: string | number; name: string };

function itemsOf(result: unknown): Item[] {
  const value = typeof result === 'string' ? parsed(result) : result;
  const inner = Array.isArray(value) ? value : (value as { results?: unknown })?.results;
  const items: unknown[] = Array.isArray(inner) ? inner : [value];
  return items.filter((item): item is Item => typeof (item as Item)?.name === 'string' && ['string', 'number'].includes(typeof (item as Item).id));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
