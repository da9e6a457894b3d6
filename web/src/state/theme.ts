// Light, dark, or as the system says.
import { effect, signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';
const NAME = 'throughline.theme';

const kept = localStorage.getItem(NAME);
export const theme = signal<Theme>(kept === 'light' || kept === 'dark' ? kept : 'auto');

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  localStorage.setItem(NAME, theme.value);
});

export function nextTheme() {
  theme.value = theme.value === 'auto' ? 'light' : theme.value === 'light' ? 'dark' : 'auto';
}
