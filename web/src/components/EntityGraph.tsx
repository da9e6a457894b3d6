// Entities and their relations as a graph: the most relevant ones, coloured by type, no label on another; it can be
// enlarged and moved.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Entity, EntityRef } from '../api/types';
import { layOut, type Box, type Edge } from '../text/graph';
import { Icon } from './Icon';

const SHOWN = 18;
const LABEL_CHARACTERS = 22;
/** Roughly, in the graph's own units. */
const CHARACTER = 6.6;
const ZOOM_STEP = 1.4;
const ZOOM_MAX = 6;
const COLOURS = ['entities', 'history', 'tools', 'recalled', 'references', 'summary', 'rules', 'instructions'];

export function labelOf(entity: EntityRef): string {
  return entity.name || entity.id || '';
}

const keyOf = (entity: EntityRef) => `${entity.type} ${labelOf(entity)}`;
const shortened = (label: string) => (label.length > LABEL_CHARACTERS ? label.slice(0, LABEL_CHARACTERS - 1) + '…' : label);

/** The colours of types, the most frequent first; the ninth type shares the last one. */
export function coloursOf(entities: EntityRef[]): (type: string) => string {
  const counts = new Map<string, number>();
  for (const { type } of entities) counts.set(type, (counts.get(type) ?? 0) + 1);
  const order = [...counts].sort((one, two) => two[1] - one[1] || one[0].localeCompare(two[0])).map(([type]) => type);
  return (type) => COLOURS[Math.min(COLOURS.length - 1, Math.max(0, order.indexOf(type)))]!;
}

export interface EntityGraphProps {
  entities: Entity[];
  chosen: string | null;
  onChoose: (key: string | null) => void;
}

export function EntityGraph({ entities, chosen, onChoose }: EntityGraphProps) {
  const { nodes, edges, layout, radii } = useMemo(() => drawing(entities), [entities]);
  const zoom = useSignal(1);
  const centre = useSignal({ x: 0.5, y: 0.5 });
  if (edges.length === 0) return null;
  const colour = coloursOf(entities);
  const width = layout.width / zoom.value;
  const height = layout.height / zoom.value;
  const within = (value: number) => Math.max(0.5 / zoom.value, Math.min(1 - 0.5 / zoom.value, value));
  const move = (dx: number, dy: number) => (centre.value = { x: within(centre.value.x + dx / zoom.value), y: within(centre.value.y + dy / zoom.value) });
  const enlarge = (factor: number) => {
    zoom.value = Math.max(1, Math.min(ZOOM_MAX, zoom.value * factor));
    move(0, 0);
  };
  const keys: Record<string, () => void> = {
    '+': () => enlarge(ZOOM_STEP), '=': () => enlarge(ZOOM_STEP), '-': () => enlarge(1 / ZOOM_STEP), '0': () => enlarge(0),
    ArrowLeft: () => move(-0.15, 0), ArrowRight: () => move(0.15, 0), ArrowUp: () => move(0, -0.15), ArrowDown: () => move(0, 0.15),
  };
  const types = [...new Set(nodes.map((node) => node.type))];
  const words = edges.map(([one, two]) => `${keyOf(nodes[one]!)} and ${keyOf(nodes[two]!)}`).join('; ');
  return (
    <figure class="graph-frame">
      <div class="graph-box" tabIndex={0} role="group" aria-label="Graph: plus and minus change its size, arrows move it"
        onKeyDown={(event) => {
          const act = keys[event.key];
          if (!act || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          event.stopPropagation();
          act();
        }}
        onWheel={(event) => {
          if (!event.ctrlKey && !event.metaKey) return;
          event.preventDefault();
          enlarge(event.deltaY < 0 ? ZOOM_STEP : 1 / ZOOM_STEP);
        }}
        onPointerMove={(event) => {
          if (event.buttons !== 1 || zoom.value === 1) return;
          const box = event.currentTarget.getBoundingClientRect();
          move(-event.movementX / box.width, -event.movementY / box.height);
        }}>
        <svg class="graph" viewBox={`${layout.x + centre.value.x * layout.width - width / 2} ${layout.y + centre.value.y * layout.height - height / 2} ${width} ${height}`} role="img" aria-label={`Related: ${words}`}>
          {edges.map(([one, two], index) => (
            <line key={index} x1={layout.places[one]!.x} y1={layout.places[one]!.y} x2={layout.places[two]!.x} y2={layout.places[two]!.y}
              data-chosen={chosen !== null && [nodes[one]!, nodes[two]!].some((node) => keyOf(node) === chosen)} />
          ))}
          {nodes.map((node, index) => {
            const { x, y } = layout.places[index]!;
            return (
              <g key={keyOf(node)} class="node" data-kind={colour(node.type)} data-chosen={keyOf(node) === chosen} onClick={() => onChoose(keyOf(node) === chosen ? null : keyOf(node))}>
                <circle cx={x} cy={y} r={radii[index]} />
                <text x={x} y={y + radii[index]! + 12}>{shortened(labelOf(node))}</text>
                <title>{keyOf(node)}</title>
              </g>
            );
          })}
        </svg>
      </div>
      <figcaption>
        <span class="legend">{types.map((type) => <span key={type} data-kind={colour(type)}><i class="swatch round" />{type.replaceAll('_', ' ')}</span>)}</span>
        <span class="zoom" role="group" aria-label="Size of the graph">
          <button class="icon-button small" aria-label="Smaller" disabled={zoom.value <= 1} onClick={() => enlarge(1 / ZOOM_STEP)}><Icon name="minus" size={14} /></button>
          <button class="icon-button small" aria-label="Larger" disabled={zoom.value >= ZOOM_MAX} onClick={() => enlarge(ZOOM_STEP)}><Icon name="plus" size={14} /></button>
        </span>
      </figcaption>
    </figure>
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
  const most = Math.max(0.01, ...nodes.map((node) => node.relevanceScore));
  const radii = nodes.map((node) => 4 + 5 * (node.relevanceScore / most));
  const boxes = nodes.map((node, index): Box => {
    const half = Math.max(radii[index]!, (shortened(labelOf(node)).length * CHARACTER) / 2) + 3;
    return { left: half, right: half, up: radii[index]! + 2, down: radii[index]! + 17 };
  });
  return { nodes, edges, radii, layout: layOut(boxes, edges) };
}

function is(one: EntityRef, two: EntityRef): boolean {
  if (one.type !== two.type) return false;
  if (one.id && two.id) return one.id === two.id;
  return Boolean(one.name) && one.name?.toLowerCase() === two.name?.toLowerCase();
}
