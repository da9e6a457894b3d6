// The other places, and light or dark.
import { apiKey, forgetKey } from '../api/key';
import { remembers } from '../state/memories';
import { place } from '../state/route';
import { nextTheme, theme } from '../state/theme';
import { Icon, type IconName } from './Icon';
import { shortcutsOpen } from './Shortcuts';

const PLACES: { name: string; label: string; icon: IconName }[] = [
  { name: 'agents', label: 'Agents', icon: 'agents' },
  { name: 'tools', label: 'Tools', icon: 'tool' },
  { name: 'personas', label: 'Personas', icon: 'persona' },
  { name: 'operations', label: 'Operations', icon: 'gauge' },
  { name: 'memory', label: 'Memory', icon: 'memory' },
];

const THEME = { auto: ['half', 'as the system'], light: ['sun', 'light'], dark: ['moon', 'dark'] } as const;

/** Loads the page anew, so that nothing which the key opened stays on it. */
function leave() {
  forgetKey();
  location.reload();
}

export function Navigation() {
  const [icon, words] = THEME[theme.value];
  return (
    <nav class="places" aria-label="Other places">
      {PLACES.filter(({ name }) => name !== 'memory' || remembers.value).map(({ name, label, icon }) => (
        <a key={name} href={`#/${name}`} aria-current={place.value.name === name ? 'page' : undefined}>
          <Icon name={icon} /> <span>{label}</span>
        </a>
      ))}
      <div class="small-buttons">
        <button class="icon-button" onClick={nextTheme} aria-label={`Colours: ${words}. Change`} title={`Colours: ${words}`}><Icon name={icon} /></button>
        <button class="icon-button" onClick={() => (shortcutsOpen.value = true)} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)"><Icon name="keyboard" /></button>
        {apiKey.value && <button class="button plain small" onClick={leave}>Forget the key</button>}
      </div>
    </nav>
  );
}
