// Line icons of our own, 20 units square. They only decorate: what they stand beside has the words.

const PATHS = {
  plus: 'M10 4v12M4 10h12',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12ZM13.5 13.5 17 17',
  more: 'M4.5 10h.01M10 10h.01M15.5 10h.01',
  close: 'M5 5l10 10M15 5 5 15',
  menu: 'M3.5 6h13M3.5 10h13M3.5 14h13',
  panel: 'M3.5 4.5h13v11h-13zM12 4.5v11',
  send: 'M10 16V4M5 9l5-5 5 5',
  stop: 'M6 6h8v8H6z',
  tool: 'M12.5 3.5a4 4 0 0 0-4 5.2L3.6 13.6a1.9 1.9 0 0 0 2.8 2.8l4.9-4.9a4 4 0 0 0 5-5.2l-2.6 2.6-2.6-2.6 2.6-2.6a4 4 0 0 0-1.2-.2Z',
  check: 'M4 10.5 8 14.5 16 6',
  cross: 'M6 6l8 8M14 6l-8 8',
  pause: 'M7 5v10M13 5v10',
  chevron: 'M7 5l5 5-5 5',
  layers: 'M10 3 3 7l7 4 7-4-7-4ZM3 11l7 4 7-4',
  fork: 'M6 4v12M6 10c0-4 8-2 8-6M14 4v.01M6 16v.01',
  copy: 'M7 7h9v9H7zM13 7V4H4v9h3',
  again: 'M15.500 6.500A6.500 6.500 0 1 0 16.500 10M15.500 3v3.500H12',
  edit: 'M4 16l.8-3.600L13 4.200l2.800 2.800-8.200 8.200L4 16ZM11.500 5.700l2.800 2.800',
  file: 'M5 3h6l4 4v10H5V3ZM11 3v4h4',
  attach: 'M15 9l-5.500 5.500a3 3 0 0 1-4.300-4.300L11 4.500a2 2 0 0 1 2.900 2.900L8.300 13a1 1 0 0 1-1.400-1.400L12 6.500',
  memory: 'M6 3h8v14l-4-3-4 3V3Z',
  minus: 'M4 10h12',
  compare: 'M7 4v12M13 4v12M3.5 7 7 4l3.5 3M9.500 13 13 16l3.5-3',
  agents: 'M10 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM4 16.500c0-3 2.500-4.500 6-4.500s6 1.500 6 4.500',
  persona: 'M4 5c4-1.500 8-1.500 12 0v5c0 4-3 6-6 6.500C7 16 4 14 4 10V5ZM7.500 8.500h.01M12.500 8.500h.01M7.500 12c1.500 1.300 3.500 1.300 5 0',
  gauge: 'M3.500 14a6.500 6.500 0 1 1 13 0M10 14l3-5',
  sun: 'M10 13.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7ZM10 2.500v1.500M10 16v1.500M2.500 10H4M16 10h1.500M4.700 4.700l1 1M14.300 14.300l1 1M15.300 4.700l-1 1M5.700 14.300l-1 1',
  moon: 'M16 11.500A6.500 6.500 0 1 1 8.500 4a5 5 0 0 0 7.500 7.500Z',
  half: 'M10 3.500a6.500 6.500 0 1 0 0 13v-13ZM10 3.500a6.500 6.500 0 0 1 0 13',
  tag: 'M3.500 3.500h6l7 7-6 6-7-7v-6ZM7 7h.01',
  warning: 'M10 3.500 17.500 16.500h-15L10 3.500ZM10 8.500v3.500M10 14.300v.01',
  down: 'M10 4v12M5 11l5 5 5-5',
  keyboard: 'M2.500 5.500h15v9h-15zM5.500 8.500h.01M8.500 8.500h.01M11.500 8.500h.01M14.500 8.500h.01M6.500 11.500h7',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width={size} height={size} aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
