// The side panel: what the model saw, how full the window was, what the conversation is about, what it may use.
import { inspected, inspectorOpen, tab, type Tab } from '../state/inspector';
import { session, turns } from '../state/session';
import { ContextTab } from './ContextTab';
import { Icon } from './Icon';
import { later } from './Later';
import { ItemsTab } from './ItemsTab';
import { PersonaTab } from './PersonaTab';

const EntitiesTab = later(() => import('./EntitiesTab').then((module) => module.EntitiesTab));
const MapTab = later(() => import('./MapTab').then((module) => module.MapTab));

const TABS: { name: Tab; label: string }[] = [
  { name: 'context', label: 'Context' },
  { name: 'map', label: 'Map' },
  { name: 'entities', label: 'Entities' },
  { name: 'items', label: 'Sources' },
  { name: 'persona', label: 'Persona' },
];

function moveBetweenTabs(event: KeyboardEvent) {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (step === 0) return;
  const here = TABS.findIndex(({ name }) => name === tab.value);
  const next = TABS[(here + step + TABS.length) % TABS.length]!;
  tab.value = next.name;
  document.getElementById(`tab-${next.name}`)?.focus();
  event.preventDefault();
}

export function Inspector() {
  const head = session.value;
  const total = turns.value?.total.value ?? 0;
  const turn = Math.min(inspected.value ?? total, total) || total;
  return (
    <aside class="inspector" aria-label="About this conversation" onKeyDown={(event) => {
      if (event.key === 'Escape' && !matchMedia('(min-width: 1100px)').matches) inspectorOpen.value = false;
    }}>
      <div class="tab-bar">
        <div class="tabs" role="tablist" aria-label="About this conversation" onKeyDown={moveBetweenTabs}>
          {TABS.map(({ name, label }) => (
            <button key={name} id={`tab-${name}`} role="tab" aria-selected={tab.value === name} aria-controls="tab-panel"
              tabIndex={tab.value === name ? 0 : -1} onClick={() => (tab.value = name)}>{label}</button>
          ))}
        </div>
        <button class="icon-button" aria-label="Close the panel" onClick={() => (inspectorOpen.value = false)}><Icon name="close" size={16} /></button>
      </div>
      <div class="tab-panel" id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab.value}`} tabIndex={0}>
        {head && tab.value === 'context' && <ContextTab session={head.id} turn={turn} total={total} />}
        {head && tab.value === 'map' && <MapTab head={head} turn={turn} total={total} />}
        {head && tab.value === 'entities' && <EntitiesTab session={head.id} />}
        {head && tab.value === 'items' && <ItemsTab session={head} />}
        {head && tab.value === 'persona' && <PersonaTab session={head} />}
      </div>
    </aside>
  );
}
