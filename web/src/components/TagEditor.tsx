// The tags of a session: take one off, add one.
import { useSignal } from '@preact/signals';
import { Icon } from './Icon';

export function TagEditor({ tags, onChange }: { tags: string[]; onChange: (tags: string[]) => void }) {
  const typing = useSignal<string | null>(null);
  const add = () => {
    const tag = typing.value?.trim();
    typing.value = null;
    if (tag && !tags.includes(tag)) onChange([...tags, tag]);
  };
  return (
    <span class="tag-editor">
      {tags.map((tag) => (
        <span key={tag} class="tag">{tag}
          <button aria-label={`Remove the tag ${tag}`} onClick={() => onChange(tags.filter((known) => known !== tag))}><Icon name="close" size={11} /></button>
        </span>
      ))}
      {typing.value === null
        ? <button class="add-tag" aria-label="Add tag" title="Add tag" onClick={() => (typing.value = '')}><Icon name="tag" size={13} /> <span class="only-wide">Add tag</span></button>
        : <input class="tag-input" aria-label="New tag" value={typing.value} ref={(element) => element?.focus()} maxLength={64}
            onInput={(event) => (typing.value = event.currentTarget.value)} onBlur={add}
            onKeyDown={(event) => {
              if (event.key === 'Enter') add();
              if (event.key === 'Escape') typing.value = null;
            }} />}
    </span>
  );
}
