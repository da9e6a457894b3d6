// Numbers, sizes and times as people read them.

const whole = new Intl.NumberFormat('en');

export function count(value: number): string {
  return whole.format(Math.round(value));
}

/** "1 turn", "2 turns". */
export function counted(value: number, one: string, many = one + 's'): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** "1,204 tokens". */
export function tokens(value: number): string {
  return counted(value, 'token');
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

export function milliseconds(value: number): string {
  if (value === 0) return '< 1 ms';
  if (value < 1) return `${(value * 1000).toFixed(0)} µs`;
  if (value < 1000) return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`;
  return `${(value / 1000).toFixed(1)} s`;
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** What is past by what has gone by in full; what is to come to the nearest, so that seven days are not six at once. */
const rounded = (units: number) => (units < 0 ? Math.trunc(units) : Math.round(units));

/** "3 minutes ago", "in 6 days", "in 20 seconds", "just now". */
export function ago(time: string, now = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1000;
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) >= length) return relative.format(rounded(seconds / length), unit);
  }
  // What has just been is now; what is about to be is not.
  return seconds < 1 ? 'just now' : relative.format(Math.round(seconds), 'second');
}

const clock = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

export function moment(time: string): string {
  return clock.format(new Date(time));
}

/** An amount of money; what is less than a cent with the digits that tell it apart. */
export function money(amount: number, currency: string): string {
  const digits = amount > 0 && amount < 0.01 ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 4 };
  return `${amount.toLocaleString('en', digits)} ${currency}`;
}
