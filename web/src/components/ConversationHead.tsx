// The title and tags of the open session, and what can be done to it.
import { useSignal } from '@preact/signals';
import type { Conversation } from '../api/types';
import { inspectorOpen } from '../state/inspector';
import { remembers } from '../state/memories';
import { attempt, tell } from '../state/notices';
import { addressOf, go } from '../state/route';
import { refreshSession, session as open } from '../state/session';
import { exportSession, forkSession, patchSession, archiveSession, refreshSessions } from '../state/sessions';
import { drawerOpen } from './App';
import { EraseDialog } from './EraseDialog';
import { Icon } from './Icon';
import { Menu } from './Menu';
import { AgentPicker, ModelPicker } from './Pickers';
import { RenameDialog } from './RenameDialog';
import { titleOf } from './SessionRow';
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
        <h1 title={session.id}>{titleOf(session)}</h1>
        <div class="head-about">
          <span class="pickers">
            <AgentPicker value={session.agent} disabled={!session.active} onChange={(agent) => change({ agent })} />
            <ModelPicker value={session.settings.model ?? null} disabled={!session.active} onChange={(model) => change({ settings: { ...session.settings, model: model || undefined } })} />
          </span>
          {session.persona && <span>{session.persona.name}</span>}
          {session.forked_from && <a href={addressOf(session.forked_from.session, session.forked_from.turn || undefined)}>{session.forked_from.turn > 0 ? `forked at turn ${session.forked_from.turn}` : 'forked at the start'}</a>}
          <TagEditor tags={session.tags} onChange={(tags) => change({ tags })} />
        </div>
      </div>
      {!session.active && <button class="button small" onClick={() => change(session.deleted_at ? { active: true } : { extend_days: 7 })}>{session.deleted_at ? 'Restore' : 'Extend by 7 days'}</button>}
      <button class="icon-button" aria-pressed={inspectorOpen.value} aria-label="Context panel" title="Context panel (c)" onClick={() => (inspectorOpen.value = !inspectorOpen.value)}><Icon name="panel" /></button>
      <Menu label="Session" entries={[
        { label: 'Rename', run: () => (renaming.value = true) },
        { label: 'Fork', run: () => attempt(fork) },
        { label: 'Share…', run: () => (sharing.value = true) },
        { label: 'Export as JSON', run: () => attempt(() => exportSession(session.id, 'json')) },
        { label: 'Export as Markdown', run: () => attempt(() => exportSession(session.id, 'markdown')) },
        ...(remembers.value ? [{
          label: session.settings.private ? 'Remember this session' : 'Do not remember this session',
          run: () => change({ settings: { ...session.settings, private: !session.settings.private } }),
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
