// Something that is fetched: on its way, here, or failed. A newer wish makes an older answer void.
import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../api/client';
import { returned } from '../state/connection';

export type Loaded<T> = { state: 'loading' } | { state: 'here'; value: T } | { state: 'failed'; problem: Problem };

export function useLoaded<T>(load: () => Promise<T>, wishes: unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  useEffect(() => {
    let current = true;
    load().then(
      (value) => current && setLoaded({ state: 'here', value }),
      (error) => current && setLoaded({ state: 'failed', problem: Problem.from(error) }),
    );
    return () => {
      current = false;
    };
  }, [...wishes, loaded.state === 'failed' ? returned.value : 0]);
  return loaded;
}
