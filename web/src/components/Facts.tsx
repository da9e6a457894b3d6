// Figures under a title, whatever they are.
import { bytes, count, percent } from '../text/numbers';

function shown(name: string, value: unknown): string {
  if (typeof value === 'number') {
    if (/bytes/.test(name)) return bytes(value);
    if (/share/.test(name)) return percent(value);
    return Number.isInteger(value) ? count(value) : value.toFixed(3);
  }
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value)) return value.length ? value.map((entry) => (typeof entry === 'object' ? JSON.stringify(entry) : String(entry))).join(', ') : 'none';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function Facts({ title, values, note }: { title: string; values: Record<string, unknown>; note?: string }) {
  const entries = Object.entries(values);
  if (entries.length === 0) return null;
  return (
    <section class="card">
      <h2>{title}</h2>
      <dl class="facts">
        {entries.map(([name, value]) => <div key={name}><dt>{name.replaceAll('_', ' ')}</dt><dd>{shown(name, value)}</dd></div>)}
      </dl>
      {note && <p class="quiet">{note}</p>}
    </section>
  );
}
