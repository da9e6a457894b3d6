// Tools that may run in this session without asking, or not at all, because somebody said so here; each can be withdrawn.
import { useSignal } from '@preact/signals';
import type { Conversation, ToolRule } from '../api/types';
import { attempt, tell } from '../state/notices';
import { permissionsOf, toolOf, withdraw } from '../state/permissions';
import { ago } from '../text/numbers';
import { useLoaded } from './useLoaded';

const WORDS: Record<string, string> = {
  allow: 'runs without asking', ask: 'asks before each call', deny: 'does not run', reads: 'counts as one that only reads',
};

export function Permissions({ session }: { session: Conversation }) {
  const changed = useSignal(0);
  const loaded = useLoaded(() => permissionsOf(session.id), [session.id, session.version, changed.value]);
  if (loaded.state !== 'here' || loaded.value.length === 0) return null;
  const end = (rule: ToolRule) => attempt(async () => {
    await withdraw(session.id, toolOf(rule));
    changed.value += 1;
    tell(`Withdrawn: ${rule.tool} follows the agent's rules again.`);
  });
  return (
    <section class="permissions" aria-label="Decided for this session">
      <h2>Decided for this session <span class="of">({loaded.value.length})</span></h2>
      <ul>
        {loaded.value.map((rule) => (
          <li key={rule.tool} class="item">
            <span class="item-words">
              <span class="item-name">{rule.tool}</span>
              <span class="item-about">{WORDS[rule.rule] ?? rule.rule}{rule.at && `, decided ${ago(rule.at)}`}{!rule.in_force && '; not in force, because its definition has changed'}</span>
            </span>
            <button class="button small" aria-label={`Withdraw the permission of ${rule.tool}`} onClick={() => end(rule)}>Withdraw</button>
          </li>
        ))}
      </ul>
    </section>
  );
}
