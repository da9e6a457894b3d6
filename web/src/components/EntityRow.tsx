// One entity: what it is, how relevant, when it was last mentioned, what it is related to.
import { useSignal } from '@preact/signals';
import type { Entity } from '../api/types';
import { addressOf } from '../state/route';
import { ago, counted } from '../text/numbers';
import { EntityActions } from './EntityActions';
import { labelOf } from './EntityGraph';

/** What the other is to this one, as a verb. */
const RELATION = { parent: 'belongs to', child: 'has', related: 'goes with' };

export interface EntityRowProps {
  session: string;
  entity: Entity;
  others: Entity[];
  most: number;
  /** The colour of its type. */
  colour: string;
  chosen: boolean;
}

export function EntityRow({ session, entity, others, most, colour, chosen }: EntityRowProps) {
  const open = useSignal(false);
  const relevance = entity.relevanceScore;
  const last = entity.mention_contexts?.at(-1);
  return (
    <div class="entity" data-chosen={chosen}>
      <button class="piece-line" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        <span class="type" data-kind={colour}><i class="swatch round" /> {entity.type.replaceAll('_', ' ')}</span>
        <span class="piece-name">{labelOf(entity)}{entity.active && <span class="badge" title="The last turns spoke of it">now</span>}</span>
        <span class="relevance" title={`Relevance ${relevance.toFixed(2)}`}>
          <meter min={0} max={most} value={relevance} aria-label={`Relevance ${relevance.toFixed(2)}`} />
        </span>
      </button>
      <p class="entity-about">
        {last ? <a href={addressOf(session, last.turn)}>turn {last.turn}</a> : 'from a tool'} · {ago(entity.last_mentioned)}
        {(entity.mention_count ?? 0) > 0 && ` · ${counted(entity.mention_count ?? 0, 'mention')}`}
      </p>
      {open.value && (
        <div class="piece-more">
          {entity.aliases && entity.aliases.length > 0 && <p>Also called {entity.aliases.join(', ')}.</p>}
          {entity.id && <p>Id <code>{entity.id}</code></p>}
          {entity.relations && entity.relations.length > 0 && (
            <ul class="relations">{entity.relations.map((relation, index) => <li key={index}>{RELATION[relation.relation]} {relation.type.replaceAll('_', ' ')} {relation.name || relation.id}</li>)}</ul>
          )}
          {entity.data && Object.keys(entity.data).length > 0 && <pre tabIndex={0}>{JSON.stringify(entity.data, null, 2)}</pre>}
          {entity.mention_contexts?.map((context) => <blockquote key={context.turn}>{context.text} <a href={addressOf(session, context.turn)}>turn {context.turn}</a></blockquote>)}
          <EntityActions session={session} entity={entity} others={others} />
        </div>
      )}
    </div>
  );
}
