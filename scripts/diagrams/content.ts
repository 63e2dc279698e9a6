// What a drawing writes into a state and on an arrow, line by line, and how much room that takes.
// Where it goes is decided in layout.ts, how it looks in style.ts.
import { type GraphEdge, type GraphNode, type MachineGraph, wordsOf } from '../../machines/drawing/graph.ts';
import { textWidth, wrapText } from './measure.ts';
import { FONTS, type Look } from './style.ts';

export interface Span {
  text: string;
  look: Look;
}

/** One line of text. Its pieces begin at their own `x`, from the start of the line. */
export interface Line {
  pieces: { x: number; spans: Span[] }[];
  width: number;
  /** The transition this line tells of; null for a line about the state itself. */
  edge: GraphEdge | null;
  /** A clock is drawn before the text. */
  clock: boolean;
}

export interface StateContent {
  title: Line;
  chips: { text: string; width: number }[];
  lines: Line[];
  /** Size of all that is written, padding included. */
  width: number;
  height: number;
}

/** Arrows between the same two states that look the same are drawn as one, with a line of text for each. */
export interface Arrow {
  from: string;
  to: string;
  look: 'plain' | 'after' | 'error';
  edges: GraphEdge[];
  lines: Line[];
  width: number;
  height: number;
}

export const PADDING = 13;
export const TITLE_HEIGHT = 20;
/** Room above the first line of text, where there is one. */
export const RULE_HEIGHT = 14;
export const LINE_HEIGHT = 17;
export const CHIP_HEIGHT = 17;
export const CHIP_GAP = 6;
export const CLOCK_WIDTH = 17;
const COLUMN_GAP = 14;
const NOTE_WIDTH_MAX = 190;
const LABEL_WIDTH_MAX = 215;
const LABEL_PADDING = 5;
/** How wide the lines under the name of a machine may be. */
const WIDE = 420;

/** The text of a state: its name, tags and description, what it runs, and the transitions that do not leave it. */
export function contentOf(node: GraphNode, graph: MachineGraph): StateContent {
  const isMachine = node.parent === null;
  const title = lineOf([[{ text: node.key, look: isMachine ? 'title' : 'name' }]]);
  const chips = node.tags.map((text) => ({ text, width: Math.ceil(spanWidth({ text, look: 'chip' })) + 14 }));
  const inside = graph.edges.filter(({ from, to }) => from === node.id && to === null);
  const [noteWidthMax, labelWidthMax] = isMachine ? [WIDE, WIDE] : [NOTE_WIDTH_MAX, LABEL_WIDTH_MAX];
  const note = node.description === null ? [] : wrapText(node.description, FONTS.note.sizePx, noteWidthMax);
  const lines = [
    ...note.map((text) => lineOf([[{ text, look: 'note' }]])),
    ...node.invokes.map(({ id }) => does('runs', id)),
    ...(node.entry.length === 0 ? [] : [does('entry', `/ ${node.entry.join(', ')}`)]),
    ...(node.exit.length === 0 ? [] : [does('exit', `/ ${node.exit.join(', ')}`)]),
    ...inside.flatMap((edge) => labelOf(edge, graph, labelWidthMax)),
  ];
  const chipsWidth = chips.reduce((sum, { width }) => sum + CHIP_GAP + width, chips.length > 0 ? CHIP_GAP : 0);
  const textHeight = lines.length > 0 ? RULE_HEIGHT + lines.length * LINE_HEIGHT : 0;
  return {
    title,
    chips,
    lines,
    width: Math.ceil(Math.max(title.width + chipsWidth, ...lines.map(({ width }) => width))) + 2 * PADDING,
    height: PADDING + TITLE_HEIGHT + textHeight + PADDING,
  };
}

/** All arrows of a machine, in document order. */
export function arrowsOf(graph: MachineGraph): Arrow[] {
  const groups = new Map<string, GraphEdge[]>();
  for (const edge of graph.edges) {
    if (edge.to === null) continue;
    const key = `${edge.from} ${edge.to} ${lookOf(edge)}`;
    groups.set(key, [...(groups.get(key) ?? []), edge]);
  }
  return [...groups.values()].map((edges) => toArrow(edges, graph));
}

function toArrow(edges: GraphEdge[], graph: MachineGraph): Arrow {
  const first = edges[0] as GraphEdge & { to: string };
  const lines = edges.length === 1 ? centred(labelOf(first, graph, LABEL_WIDTH_MAX)) : tableOf(edges, graph);
  return {
    from: first.from,
    to: first.to,
    look: lookOf(first),
    edges,
    lines,
    width: Math.ceil(widest(lines)) + 2 * LABEL_PADDING,
    height: lines.length * LINE_HEIGHT + 2 * LABEL_PADDING,
  };
}

const lookOf = ({ kind }: GraphEdge): Arrow['look'] => (kind === 'after' || kind === 'error' ? kind : 'plain');

/** A transition in one line, or in two where one would be too wide. */
function labelOf(edge: GraphEdge, graph: MachineGraph, widthMax: number): Line[] {
  const [event, guard, actions] = spansOf(edge, graph);
  const whole = lineOf([[...event, ...guard, ...actions]], edge);
  if (whole.width <= widthMax || event.length === 0) return [whole];
  return [lineOf([event], edge), { ...lineOf([[...guard, ...actions]]), edge }];
}

/** Several transitions below each other: what happens in one column, what is done about it in the next. */
function tableOf(edges: readonly GraphEdge[], graph: MachineGraph): Line[] {
  const rows = edges.map((edge) => {
    const [event, guard, actions] = spansOf(edge, graph);
    return { edge, cause: [...event, ...guard], actions };
  });
  const column = widest(rows.map(({ edge, cause }) => lineOf([cause], edge))) + COLUMN_GAP;
  return rows.map(({ edge, cause, actions }) => lineOf(actions.length > 0 ? [cause, actions] : [cause], edge, column));
}

function spansOf(edge: GraphEdge, graph: MachineGraph): [Span[], Span[], Span[]] {
  const { event, guard, actions } = wordsOf(edge, graph);
  const span = (text: string, look: Look): Span[] => (text === '' ? [] : [{ text, look }]);
  return [span(event, 'event'), span(guard, 'guard'), span(actions, 'action')];
}

const does = (word: string, what: string): Line =>
  lineOf([
    [
      { text: word, look: 'word' },
      { text: what, look: 'action' },
    ],
  ]);

function lineOf(pieces: Span[][], edge: GraphEdge | null = null, column = 0): Line {
  const clock = edge?.kind === 'after';
  const start = clock ? CLOCK_WIDTH : 0;
  const placed = pieces.map((spans, index) => ({ x: index === 0 ? start : column, spans }));
  const last = placed.at(-1);
  return { pieces: placed, width: (last?.x ?? 0) + pieceWidth(last?.spans ?? []), edge, clock };
}

/** Lines below each other, each in the middle of the widest. */
function centred(lines: Line[]): Line[] {
  const width = widest(lines);
  return lines.map((line) => ({
    ...line,
    pieces: line.pieces.map(({ x, spans }) => ({ x: x + Math.round((width - line.width) / 2), spans })),
  }));
}

const widest = (lines: readonly Line[]): number => Math.max(0, ...lines.map(({ width }) => width));

const pieceWidth = (spans: readonly Span[]): number =>
  spans.reduce((sum, span) => sum + spanWidth(span), 0) +
  Math.max(0, spans.length - 1) * textWidth(' ', FONTS.event.sizePx);

const spanWidth = ({ text, look }: Span): number => textWidth(text, FONTS[look].sizePx, FONTS[look].bold);
