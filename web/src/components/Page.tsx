// A place that is not a conversation: a title and what belongs under it.
import type { ComponentChildren } from 'preact';
import { MenuButton } from './ConversationHead';

export function Page({ title, lead, actions, children }: { title: string; lead?: string; actions?: ComponentChildren; children: ComponentChildren }) {
  return (
    <div class="page" tabIndex={0} role="region" aria-label={title}>
      <header class="head bare"><MenuButton /><h1>{title}</h1>{actions}</header>
      <div class="page-body">
        {lead && <p class="lead">{lead}</p>}
        {children}
      </div>
    </div>
  );
}
