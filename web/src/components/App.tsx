// The page: sessions on the left, a conversation or another place in the middle, what the model saw on the right.
import { effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { apiKey, keyWanted } from '../api/key';
import { refreshCatalogue } from '../state/catalogue';
import { reachable, returned } from '../state/connection';
import { watchElsewhere } from '../state/elsewhere';
import { inspectorOpen } from '../state/inspector';
import { lookForMemories } from '../state/memories';
import { complainUnlessSilent } from '../state/notices';
import { openId, place } from '../state/route';
import { closeSession, openSession } from '../state/session';
import { refreshSessions } from '../state/sessions';
import { nameThePage } from '../state/title';
import { Conversation } from './Conversation';
import { ErasedDialog } from './EraseDialog';
import { Inspector } from './Inspector';
import { KeyDialog } from './KeyDialog';
import { later } from './Later';
import { listenToKeys, ShortcutsDialog } from './Shortcuts';
import { Notices } from './Notices';
import { Page } from './Page';
import { Sidebar } from './Sidebar';
import { Starter } from './Starter';

const AgentsPage = later(() => import('./AgentsPage').then((module) => module.AgentsPage));
const PersonasPage = later(() => import('./PersonasPage').then((module) => module.PersonasPage));
const ToolsPage = later(() => import('./ToolsPage').then((module) => module.ToolsPage));
const MemoryPage = later(() => import('./MemoryPage').then((module) => module.MemoryPage));
const OperationsPage = later(() => import('./OperationsPage').then((module) => module.OperationsPage));

/** On a phone the sessions lie in a drawer. */
export const drawerOpen = signal(false);

effect(() => {
  place.value;
  drawerOpen.value = false;
});

function Middle() {
  switch (place.value.name) {
    case 'session':
      return <Conversation />;
    case 'agents':
      return <AgentsPage />;
    case 'tools':
      return <ToolsPage />;
    case 'personas':
      return <PersonasPage />;
    case 'memory':
      return <MemoryPage />;
    case 'operations':
      return <OperationsPage />;
    case 'nowhere':
      return <NoSuchPage />;
    default:
      return <Starter />;
  }
}

/** An address that leads nowhere: mistyped, or of another version. */
function NoSuchPage() {
  return (
    <Page title="There is no such page">
      <p>Nothing is found at <code>{location.hash}</code>. The list of sessions leads to every conversation, and <a href="#/">a new one</a> starts here.</p>
    </Page>
  );
}

export function App() {
  useEffect(listenToKeys, []);
  useEffect(watchElsewhere, []);
  useEffect(nameThePage, []);
  useEffect(() => effect(() => {
    apiKey.value;
    returned.value;
    void refreshSessions().catch(complainUnlessSilent);
    void refreshCatalogue();
    void lookForMemories();
  }), []);
  useEffect(() => effect(() => {
    apiKey.value;
    returned.value;
    if (openId.value) void openSession(openId.value);
    else closeSession();
  }), []);
  const withInspector = openId.value !== null && inspectorOpen.value;
  return (
    <div class="shell" data-drawer={drawerOpen.value ? 'open' : 'closed'} data-inspector={withInspector ? 'open' : 'closed'}>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>Skip to the content</a>
      <Sidebar />
      {drawerOpen.value && <button class="veil" aria-label="Close the list of sessions" onClick={() => (drawerOpen.value = false)} />}
      <main id="main" tabIndex={-1}><Middle /></main>
      {withInspector && <Inspector />}
      {!reachable.value && <p class="out-of-reach" role="status">The server does not answer. Trying again…</p>}
      <Notices />
      {keyWanted.value && <KeyDialog />}
      <ErasedDialog />
      <ShortcutsDialog />
    </div>
  );
}
