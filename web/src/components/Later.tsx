// A place whose code is fetched when it is first visited.
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';

export function later(load: () => Promise<ComponentType>): ComponentType {
  const here = signal<ComponentType | null>(null);
  let asked = false;
  return function Later() {
    if (!asked) {
      asked = true;
      load().then((component) => (here.value = component), () => (asked = false));
    }
    const Here = here.value;
    return Here ? <Here /> : <p class="quiet" aria-busy="true">Loading…</p>;
  };
}
