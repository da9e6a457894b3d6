// A labelled field with what is wrong with it.
import { cloneElement, type VNode } from 'preact';
import { useId } from 'preact/hooks';

export function Field({ label, wrong, children }: { label: string; wrong?: string | undefined; children: VNode<any> }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {cloneElement(children, { id, 'aria-invalid': wrong ? 'true' : undefined, 'aria-describedby': wrong ? `${id}-wrong` : undefined })}
      {wrong && <p class="wrong" id={`${id}-wrong`}>{wrong}</p>}
    </div>
  );
}
