// A component whose code is fetched when it is first shown.
import { signal } from '@preact/signals';
import { h, type ComponentType } from 'preact';

export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const here = signal<ComponentType<Props> | null>(null);
  let asked = false;
  return function Later(props: Props) {
    if (!asked) {
      asked = true;
      load().then((component) => (here.value = component), () => (asked = false));
    }
    return here.value ? h(here.value, props) : <p class="quiet" aria-busy="true">Loading…</p>;
  };
}
