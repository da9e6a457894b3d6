// JSON for people.

/** A value or JSON text, indented; other text as it is. */
export function pretty(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? '';
  const start = value.trimStart()[0];
  if (start !== '{' && start !== '[') return value;
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}

/** Arguments on one line: `site: ams1, status: active`. */
export function brief(value: unknown, charactersMax = 90): string {
  if (value === null || typeof value !== 'object') return String(value ?? '');
  const parts = Object.entries(value).map(([name, inner]) => `${name}: ${typeof inner === 'string' ? inner : JSON.stringify(inner)}`);
  const line = parts.join(', ');
  return line.length > charactersMax ? line.slice(0, charactersMax - 1) + '…' : line;
}
