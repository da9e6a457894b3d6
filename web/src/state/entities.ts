// Grows when the entities of the open session may have changed, so that panels ask again.
import { signal } from '@preact/signals';

export const entitiesChanged = signal(0);
