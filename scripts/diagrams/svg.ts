// Writes a laid out machine as SVG. Every state carries `data-state-id`, every arrow and label `data-edge` and `data-event`
// (ids as in machines/drawing/graph.ts, several separated by blanks), so that one file serves the documents and a live page.
import type { GraphEdge, MachineGraph } from '../../machines/drawing/graph.ts';
import {
  CHIP_GAP,
  CHIP_HEIGHT,
  CLOCK_WIDTH,
  LINE_HEIGHT,
  type Line,
  PADDING,
  RULE_HEIGHT,
  TITLE_HEIGHT,
} from './content.ts';
import { DOT_RADIUS, type Picture, type PlacedArrow, type PlacedState } from './layout.ts';
import { digits, headPath, linePath } from './lines.ts';
import { STYLE } from './style.ts';

const CORNER = 10;

/** The whole drawing as one SVG document. */
export function toSvg(graph: MachineGraph, picture: Picture): string {
  const { width, height, states, arrows, starts } = picture;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="chart-${graph.id}-title chart-${graph.id}-desc" data-machine-id="${graph.id}">`,
    `<title id="chart-${graph.id}-title">${escapeXml(`State chart of ${graph.id}`)}</title>`,
    `<desc id="chart-${graph.id}-desc">${escapeXml(describe(graph))}</desc>`,
    `<style>${STYLE}</style>`,
    ...states.map((state) => drawState(state)),
    ...starts.map(({ dot, points }) => drawStart(dot, points)),
    ...arrows.map(drawArrow),
    ...arrows.map(drawLabel),
    '</svg>',
  ].join('\n')}\n`;
}

/** What a reader who cannot see the drawing is told. */
function describe({ description, nodes, edges }: MachineGraph): string {
  const states = nodes.filter(({ parent }) => parent !== null).map(({ key }) => key);
  return `${description ?? ''} States: ${states.join(', ')}. ${edges.length} transitions.`.trim();
}

function drawState(state: PlacedState): string {
  const { node, content, x, y, width, height } = state;
  const hasInner = node.kind === 'compound' || node.kind === 'parallel';
  const isMachine = node.parent === null;
  const role = isMachine ? 'group machine' : hasInner ? `group${state.isRegion ? ' region' : ''}` : 'state';
  const headerBottom = y + (hasInner ? content.height : PADDING + TITLE_HEIGHT + RULE_HEIGHT / 2);
  const baseline = y + PADDING + 14 + (isMachine ? 4 : 0);
  return [
    `<g class="${role} ${node.kind}" data-state-id="${node.id}">`,
    hasInner && !isMachine ? `<path class="band" d="${bandPath(state, content.height)}"/>` : '',
    box('box', x, y, width, height, isMachine ? CORNER + 4 : CORNER),
    node.kind === 'final' ? box('inner', x + 4, y + 4, width - 8, height - 8, CORNER - 3) : '',
    isMachine || (!hasInner && content.lines.length > 0) ? rule(x, headerBottom, width) : '',
    text(content.title, x + PADDING, baseline),
    ...chips(state, baseline),
    ...content.lines.map((line, index) =>
      lineText(line, x + PADDING, y + PADDING + TITLE_HEIGHT + RULE_HEIGHT + index * LINE_HEIGHT),
    ),
    '</g>',
  ].join('');
}

function chips({ content, x, width }: PlacedState, baseline: number): string[] {
  const chipsWidth = content.chips.reduce((sum, chip) => sum + CHIP_GAP + chip.width, -CHIP_GAP);
  let left = x + width - PADDING - chipsWidth;
  return content.chips.map(({ text: tag, width: chipWidth }) => {
    const chip =
      box('chip-box', left, baseline - 13, chipWidth, CHIP_HEIGHT, CHIP_HEIGHT / 2) +
      `<text class="chip" x="${digits(left + 7)}" y="${digits(baseline - 1)}">${escapeXml(tag)}</text>`;
    left += chipWidth + CHIP_GAP;
    return chip;
  });
}

function drawStart({ x, y }: { x: number; y: number }, points: PlacedArrow['points']): string {
  const dot = `<circle class="dot" cx="${digits(x)}" cy="${digits(y)}" r="${DOT_RADIUS}"/>`;
  return `<g class="start">${dot}${shaft(points)}</g>`;
}

function drawArrow({ arrow, points }: PlacedArrow): string {
  return `<g class="arrow ${arrow.look}" ${dataOf(arrow.edges)}>${shaft(points)}</g>`;
}

const shaft = (points: PlacedArrow['points']): string =>
  `<path class="line" d="${linePath(points)}"/><path class="head" d="${headPath(points)}"/>`;

/** The label lies on its arrow, over a patch of paper. */
function drawLabel({ arrow, label }: PlacedArrow): string {
  const padding = (label.height - arrow.lines.length * LINE_HEIGHT) / 2;
  const lines = arrow.lines.map((line, index) =>
    lineText(line, label.x + padding, label.y + padding + index * LINE_HEIGHT),
  );
  return `<g class="label ${arrow.look}">${box('back', label.x, label.y, label.width, label.height, 4)}${lines.join('')}</g>`;
}

/** One line under the given top, with its clock; grouped when it tells of a transition. */
function lineText(line: Line, x: number, top: number): string {
  const baseline = top + 12.5;
  const clockX = x + (line.pieces[0]?.x ?? 0) - CLOCK_WIDTH;
  const drawn = `${line.clock ? clock(clockX + 6, baseline - 4) : ''}${text(line, x, baseline)}`;
  return line.edge === null ? drawn : `<g class="edge-text" ${dataOf([line.edge])}>${drawn}</g>`;
}

function text(line: Line, x: number, baseline: number): string {
  return line.pieces
    .map((piece) => {
      const spans = piece.spans.map(({ text: words, look }) => `<tspan class="${look}">${escapeXml(words)}</tspan>`);
      return `<text x="${digits(x + piece.x)}" y="${digits(baseline)}">${spans.join(' ')}</text>`;
    })
    .join('');
}

function clock(x: number, y: number): string {
  const [left, middle] = [digits(x - 5), `${digits(x)} ${digits(y)}`];
  return `<path class="clock" d="M${left} ${digits(y)}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0M${middle}v-3M${middle}h2.4"/>`;
}

const dataOf = (edges: readonly GraphEdge[]): string =>
  `data-edge="${edges.map(({ id }) => id).join(' ')}" data-event="${edges.map(({ event }) => event).join(' ')}"`;

function box(className: string, x: number, y: number, width: number, height: number, corner: number): string {
  return `<rect class="${className}" x="${digits(x)}" y="${digits(y)}" width="${digits(width)}" height="${digits(height)}" rx="${corner}"/>`;
}

const rule = (x: number, y: number, width: number): string =>
  `<path class="rule" d="M${digits(x + 1)} ${digits(y)}h${digits(width - 2)}"/>`;

/** The header of a state with states inside: round above, straight below. */
function bandPath({ x, y, width }: PlacedState, height: number): string {
  const flat = digits(width - 2 * CORNER);
  const turn = `a${CORNER} ${CORNER} 0 0 1 ${CORNER}`;
  const down = digits(height - CORNER);
  return `M${digits(x)} ${digits(y + height)}v-${down}${turn} -${CORNER}h${flat}${turn} ${CORNER}v${down}Z`;
}

const escapeXml = (words: string): string =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
