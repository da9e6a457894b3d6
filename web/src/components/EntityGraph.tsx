// Entities and their relations as a small graph: the most relevant ones, laid out by springs, always the same way.
import { useMemo } from 'preact/hooks';
import type { Entity, EntityRef } from '../api/types';
import { layOut, type Edge } from '../text/graph';

const SHOWN = 14;
const WIDTH = 360;
const HEIGHT = 290;

export function labelOf(entity: EntityRef): string {
  return entity.name || entity.id || '';
}

const keyOf = (entity: EntityRef) => `${entity.type} ${labelOf(entity)}`;

export interface EntityGraphProps {
  entities: Entity[];
  chosen: string | null;
  onChoose: (key: string | null) => void;
}

export function EntityGraph({ entities, chosen, onChoose }: EntityGraphProps) {
  const { nodes, edges, places } = useMemo(() => drawing(entities), [entities]);
  if (edges.length === 0) return null;
  const most = Math.max(...nodes.map((node) => node.relevanceScore));
  const words = edges.map(([one, two]) => `${keyOf(nodes[one]!)} and ${keyOf(nodes[two]!)}`).join('; ');
  return (
    <svg class="graph" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Related: ${words}`}>
      {edges.map(([one, two], index) => (
        <line key={index} x1={places[one]!.x} y1={places[one]!.y} x2={places[two]!.x} y2={places[two]!.y}
          data-chosen={chosen !== null && [nodes[one]!, nodes[two]!].some((node) => keyOf(node) === chosen)} />
      ))}
      {nodes.map((node, index) => {
        const { x, y } = places[index]!;
        const label = labelOf(node);
        return (
          <g key={keyOf(node)} class="node" data-chosen={keyOf(node) === chosen} onClick={() => onChoose(keyOf(node) === chosen ? null : keyOf(node))}>
            <circle cx={x} cy={y} r={4 + 5 * (node.relevanceScore / Math.max(most, 0.01))} />
            <text x={x} y={y + (y > HEIGHT / 2 ? 19 : -12)} text-anchor={x < 60 ? 'start' : x > WIDTH - 60 ? 'end' : 'middle'}>{label.length > 18 ? label.slice(0, 17) + '…' : label}</text>
            <title>{keyOf(node)}</title>
          </g>
        );
      })}
    </svg>
  );
}

function drawing(entities: Entity[]) {
  const related = entities.filter((entity) =>
    (entity.relations?.length ?? 0) > 0 || entities.some((other) => other.relations?.some((relation) => is(relation, entity))));
  const nodes = related.slice(0, SHOWN);
  const edges: Edge[] = [];
  nodes.forEach((node, one) => {
    for (const relation of node.relations ?? []) {
      const two = nodes.findIndex((other) => is(relation, other));
      const known = edges.some(([a, b]) => (a === one && b === two) || (a === two && b === one));
      if (two >= 0 && two !== one && !known) edges.push([one, two]);
    }
  });
  return { nodes, edges, places: layOut(nodes.length, edges, WIDTH, HEIGHT) };
}

function is(one: EntityRef, two: EntityRef): boolean {
  if (one.type !== two.type) return false;
  if (one.id && two.id) return one.id === two.id;
  return Boolean(one.name) && one.name?.toLowerCase() === two.name?.toLowerCase();
}
