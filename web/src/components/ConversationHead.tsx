// The title and tags of the open session, and what can be done to it.
import { useSignal } from '@preact/signals';
import type { Conversation } from '../api/types';
import { inspectorOpen } from '../state/inspector';
import { remembers } from '../state/memories';
import { attempt, once, tell } from '../state/notices';
import { addressOf, go } from '../state/route';
import { refreshSession, session as open } from '../state/session';
import { archiveSession, exportSession, forkSession, nameOf, patchSession, refreshSessions } from '../state/sessions';
import { ago } from '../text/numbers';
import { drawerOpen } from './App';
import { EraseDialog } from './EraseDialog';
import { Icon } from './Icon';
import { Menu } from './Menu';
import { AgentPicker, ModelPicker } from './Pickers';
import { RenameDialog } from './RenameDialog';
import { ShareDialog } from './ShareDialog';
import { TagEditor } from './TagEditor';

export function MenuButton() {
  return (
    <button class="icon-button only-narrow" aria-label="Sessions" onClick={() => (drawerOpen.value = true)}><Icon name="menu" /></button>
  );
}

export function ConversationHead({ session }: { session: Conversation }) {
  const renaming = useSignal(false);
  const erasing = useSignal(false);
  const sharing = useSignal(false);
  const change = (patch: Record<string, unknown>) => attempt(async () => {
    open.value = await patchSession(session.id, patch, session.version);
  });
  const remember = async () => {
    const off = !session.settings.private;
    if (!(await change({ settings: { ...session.settings, private: off } }))) return;
    tell(off ? 'Nothing of this session is remembered outside of it any more, and what had been gathered from it is forgotten.' : 'What is said from now on is remembered.');
  };
  // By as long as the server keeps such a session.
  const restore = () => attempt(async () => {
    const restored = await patchSession(session.id, { active: true }, session.version);
    open.value = restored;
    await refreshSessions();
    if (restored.expires_at) tell(`Extended: it expires ${ago(restored.expires_at)}.`);
  });
  const fork = async () => {
    const forked = await forkSession(session.id);
    await refreshSessions();
    go(addressOf(forked.id));
    tell('Forked.');
  };
  return (
    <header class="head">
      <MenuButton />
      <div class="head-words">
        <h1 title={session.id}>{nameOf(session)}</h1>
        <div class="head-about">
          <span class="pickers">
            <AgentPicker value={session.agent} disabled={!session.active} onChange={(agent) => change({ agent })} />
            <ModelPicker value={session.settings.model ?? null} disabled={!session.active} onChange={(model) => change({ settings: { ...session.settings, model: model || undefined } })} />
          </span>
          {session.persona && <span>{session.persona.name}</span>}
          {session.settings.private && <span class="badge" title="Nothing that is said here is remembered outside of this session">not remembered</span>}
          {session.forked_from && <a href={addressOf(session.forked_from.session, session.forked_from.turn || undefined)}>{session.forked_from.turn > 0 ? `forked at turn ${session.forked_from.turn}` : 'forked at the start'}</a>}
          <TagEditor tags={session.tags} onChange={(tags) => change({ tags })} />
        </div>
      </div>
      {!session.active && <button class="button small" onClick={restore}>{session.deleted_at ? 'Restore' : 'Extend'}</button>}
      <button class="icon-button" aria-pressed={inspectorOpen.value} aria-label="Context panel" title="Context panel (c)" onClick={() => (inspectorOpen.value = !inspectorOpen.value)}><Icon name="panel" /></button>
      <Menu label="Session" entries={[
        { label: 'Rename', run: () => (renaming.value = true) },
        { label: 'Fork', run: () => once('fork', fork) },
        { label: 'Share…', run: () => (sharing.value = true) },
        { label: 'Export as JSON', run: () => attempt(() => exportSession(session, 'json')) },
        { label: 'Export as Markdown', run: () => attempt(() => exportSession(session, 'markdown')) },
        ...(remembers.value ? [{
          label: session.settings.private ? 'Remember this session' : 'Do not remember this session',
          run: remember,
        }] : []),
        ...(session.active ? [{ label: 'Archive', run: () => attempt(async () => { await archiveSession(session.id); await refreshSession(); tell('Archived. You can restore it.'); }) }] : []),
        { label: 'Erase for good…', danger: true, run: () => (erasing.value = true) },
      ]} />
      {renaming.value && <RenameDialog title={session.title ?? ''} onClose={() => (renaming.value = false)} onRename={(title) => change({ title: title || null })} />}
      {sharing.value && <ShareDialog session={session} onClose={() => (sharing.value = false)} />}
      {erasing.value && <EraseDialog session={session} onClose={() => (erasing.value = false)} />}
    </header>
  );
}
