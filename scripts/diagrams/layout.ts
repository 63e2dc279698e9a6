// Where everything of a drawing goes: ELK is given boxes and arrows, and plain coordinates come back.
// What is written is decided in content.ts, how it is drawn in svg.ts.

import type { GraphNode, MachineGraph } from '../../machines/drawing/graph.ts';
import { Elk, type ElkExtendedEdge, type ElkNode, type ElkPoint } from '../../tools/elk.ts';
import { type Arrow, arrowsOf, contentOf, type StateContent } from './content.ts';
import { crossings, length, straighten } from './lines.ts';

export type Point = ElkPoint;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface PlacedState extends Box {
  node: GraphNode;
  content: StateContent;
  /** One of the states that a parallel state is in at the same time. */
  isRegion: boolean;
}

export interface PlacedArrow {
  arrow: Arrow;
  points: Point[];
  label: Box;
}

/** All coordinates are pixels from the top left corner of the drawing. */
export interface Picture {
  width: number;
  height: number;
  /** Outer states before inner ones. */
  states: PlacedState[];
  arrows: PlacedArrow[];
  /** From a dot to the state that is entered first. */
  starts: { dot: Point; points: Point[] }[];
}

export const DOT_RADIUS = 5;
const MARGIN = 6;
const GROUP_PADDING = 20;

/**
 * ELK arranges at random within what is equally good for it; the tidier of two arrangements is taken. Model order would
 * decide instead, but ELK 0.12 fails on it inside nested states.
 */
const SEEDS = [1, 2];

const OPTIONS: Readonly<Record<string, string>> = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.spacing.nodeNode': '36',
  'elk.spacing.edgeNode': '24',
  'elk.spacing.edgeEdge': '18',
  'elk.spacing.labelLabel': '10',
  'elk.layered.spacing.nodeNodeBetweenLayers': '26',
  'elk.layered.spacing.edgeNodeBetweenLayers': '18',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '16',
};

/** Lays a machine out. The same graph gives the same picture, to the last digit. */
export async function layOut(graph: MachineGraph): Promise<Picture> {
  const contents = new Map(graph.nodes.map((node) => [node.id, contentOf(node, graph)]));
  const arrows = arrowsOf(graph);
  const pictures: Picture[] = [];
  for (const seed of SEEDS) {
    const placed = await new Elk().layout(toElk(graph, contents, arrows, seed));
    pictures.push(toPicture(placed, graph, contents, arrows));
  }
  return pictures.reduce((best, picture) => (untidiness(picture) < untidiness(best) ? picture : best));
}

/** Crossings are worst, then bends, then the way the eye has to go. */
function untidiness({ arrows, starts, width, height }: Picture): number {
  const lines = [...arrows, ...starts].map(({ points }) => points);
  const bends = lines.reduce((sum, points) => sum + points.length - 2, 0);
  return crossings(lines) * 600 + bends * 30 + lines.reduce((sum, points) => sum + length(points), 0) + width + height;
}

function toElk(graph: MachineGraph, contents: Map<string, StateContent>, arrows: Arrow[], seed: number): ElkNode {
  const parts = { graph, contents };
  return {
    id: 'drawing',
    layoutOptions: { ...OPTIONS, 'elk.randomSeed': String(seed), 'elk.padding': padding(MARGIN, MARGIN) },
    children: childrenOf(null, parts),
    edges: [
      ...arrows.map((arrow, index) => arrowToElk(arrow, index, graph)),
      ...graph.nodes.flatMap(({ id, initial }) =>
        initial === null ? [] : [{ id: `start of ${id}`, sources: [dotOf(id)], targets: [initial] }],
      ),
    ],
  };
}

interface Parts {
  graph: MachineGraph;
  contents: Map<string, StateContent>;
}

const dotOf = (id: string): string => `dot of ${id}`;
const padding = (top: number, others: number): string => `[top=${top},left=${others},bottom=${others},right=${others}]`;
const childrenOf = (parent: string | null, parts: Parts): ElkNode[] =>
  parts.graph.nodes.filter((node) => node.parent === parent).map((node) => nodeToElk(node, parts));

function nodeToElk(node: GraphNode, parts: Parts): ElkNode {
  const { width, height } = need(parts.contents.get(node.id), node.id);
  const inner = childrenOf(node.id, parts);
  if (inner.length === 0) return { id: node.id, width, height };
  const dot: ElkNode = {
    id: dotOf(node.id),
    width: 2 * DOT_RADIUS,
    height: 2 * DOT_RADIUS,
    layoutOptions: { 'elk.layered.layering.layerConstraint': 'FIRST_SEPARATE' },
  };
  return {
    id: node.id,
    children: node.initial === null ? sideBySide(inner) : [dot, ...inner],
    layoutOptions: {
      ...OPTIONS,
      'elk.padding': padding(height + GROUP_PADDING, GROUP_PADDING),
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${width}, ${height})`,
      'elk.layered.crossingMinimization.semiInteractive': String(node.initial === null),
    },
  };
}

/** The regions of a parallel state: in document order from the left, all beginning at the same height. */
const sideBySide = (regions: ElkNode[]): ElkNode[] =>
  regions.map((region, index) => ({
    ...region,
    layoutOptions: { ...region.layoutOptions, 'elk.alignment': 'TOP', 'elk.position': `(${index}, 0)` },
  }));

function arrowToElk(arrow: Arrow, index: number, { nodes }: MachineGraph): ElkExtendedEdge {
  const parent = nodes.find(({ id }) => id === arrow.from)?.parent;
  const siblings = nodes.filter((node) => node.parent === parent);
  const next = siblings[siblings.findIndex(({ id }) => id === arrow.from) + 1];
  // States are written in the order of a life without trouble: that way is drawn straight.
  const isUsual = arrow.look === 'plain' && next?.id === arrow.to;
  return {
    id: `arrow ${index}`,
    sources: [arrow.from],
    targets: [arrow.to],
    layoutOptions: isUsual ? { 'elk.layered.priority.straightness': '20', 'elk.layered.priority.direction': '10' } : {},
    labels: [
      {
        id: `label ${index}`,
        text: 'label',
        width: arrow.width,
        height: arrow.height,
        layoutOptions: { 'elk.edgeLabels.inline': 'true', 'elk.edgeLabels.placement': 'CENTER' },
      },
    ],
  };
}

function toPicture(
  drawing: ElkNode,
  graph: MachineGraph,
  contents: Map<string, StateContent>,
  arrows: Arrow[],
): Picture {
  const boxes = new Map(withAllInside(drawing).map((node) => [node.id, boxOf(node)]));
  const edges = new Map((drawing.edges ?? []).map((edge) => [edge.id, edge]));
  const kinds = new Map(graph.nodes.map(({ id, kind }) => [id, kind]));
  const edgeOf = (id: string): ElkExtendedEdge => need(edges.get(id), id);
  return {
    width: Math.ceil(drawing.width ?? 0),
    height: Math.ceil(drawing.height ?? 0),
    states: graph.nodes.map((node) => ({
      node,
      content: need(contents.get(node.id), node.id),
      isRegion: node.parent !== null && kinds.get(node.parent) === 'parallel',
      ...need(boxes.get(node.id), node.id),
    })),
    arrows: arrows.map((arrow, index) => {
      const edge = edgeOf(`arrow ${index}`);
      const points = pointsOf(edge);
      const isInward = arrow.to.startsWith(`${arrow.from}.`);
      return {
        arrow,
        points: isInward ? belowHeader(points, need(contents.get(arrow.from), arrow.from).height) : points,
        label: boxOf(need(edge.labels?.[0], edge.id)),
      };
    }),
    starts: graph.nodes.flatMap(({ id, initial }) => {
      if (initial === null) return [];
      const { x, y } = need(boxes.get(dotOf(id)), id);
      return [{ dot: { x: x + DOT_RADIUS, y: y + DOT_RADIUS }, points: pointsOf(edgeOf(`start of ${id}`)) }];
    }),
  };
}

/** An arrow from a state to one inside it begins under the header, which it would cross. */
function belowHeader([start, ...rest]: Point[], headerHeight: number): Point[] {
  const from = need(start, 'start');
  const y = from.y + headerHeight;
  const after = rest.findIndex((point) => point.y > y);
  const x = need(rest[after], 'end').x;
  return [{ x, y }, ...rest.slice(after)];
}

const withAllInside = (node: ElkNode): ElkNode[] => [node, ...(node.children ?? []).flatMap(withAllInside)];

const boxOf = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box => ({ x, y, width, height });

function pointsOf({ id, sections }: ElkExtendedEdge): Point[] {
  const { startPoint, bendPoints, endPoint } = need(sections?.[0], id);
  return straighten([startPoint, ...(bendPoints ?? []), endPoint]);
}

function need<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`The layout has no "${name}".`);
  return value;
}
