// What the conversation is about: entities by relevance, how they relate, and a way to put them right.
import { useSignal } from '@preact/signals';
import { at, get } from '../api/client';
import type { Entity } from '../api/types';
import { entitiesChanged } from '../state/entities';
import { coloursOf, EntityGraph, labelOf } from './EntityGraph';
import { EntityRow } from './EntityRow';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';

const SHOWN = 40;

export function EntitiesTab({ session }: { session: string }) {
  const chosen = useSignal<string | null>(null);
  const all = useSignal(false);
  const loaded = useLoaded(
    async () => (await get<{ entities: Entity[] }>(at('conversations', session, 'entities'))).entities,
    [session, entitiesChanged.value],
  );
  if (loaded.state !== 'here') return <Waiting loaded={loaded} />;
  const entities = [...loaded.value].sort((one, two) => two.relevanceScore - one.relevanceScore);
  if (entities.length === 0) return <p class="quiet">No entities yet. Devices, projects, workflows and other things that the packs know appear here when they are mentioned.</p>;
  const colour = coloursOf(entities);
  const shown = all.value ? entities : entities.slice(0, SHOWN);
  return (
    <div class="entities">
      <EntityGraph entities={entities} chosen={chosen.value} onChoose={(key) => (chosen.value = key)} />
      <ul>
        {shown.map((entity) => (
          <li key={`${entity.type}/${labelOf(entity)}`}>
            <EntityRow session={session} entity={entity} others={entities.filter((other) => other !== entity)} most={entities[0]!.relevanceScore} colour={colour(entity.type)} chosen={chosen.value === `${entity.type} ${labelOf(entity)}`} />
          </li>
        ))}
      </ul>
      {entities.length > shown.length && <button class="button small" onClick={() => (all.value = true)}>Show all {entities.length}</button>}
    </div>
  );
}
