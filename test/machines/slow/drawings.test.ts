// The committed drawings: up to date, the same each time, readable, and usable by a page that shows a live machine.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { machines } from '../../../machines/index.ts';
import { type Box, layOut } from '../../../scripts/diagrams/layout.ts';
import { segmentsOf } from '../../../scripts/diagrams/lines.ts';
import { textWidth, wrapText } from '../../../scripts/diagrams/measure.ts';
import { diagrams, drawAll, filesOf } from '../../../scripts/diagrams.ts';

const root = join(import.meta.dirname, '../../..');
const drawn = await drawAll();
const files = filesOf(drawn);

test.each([...files.keys()])('%s is up to date', (path) => {
  const file = join(root, path);
  const committed = existsSync(file) ? readFileSync(file, 'utf8') : '';
  expect(
    committed === files.get(path),
    `${path} is out of date: run \`${diagrams.command}\` and commit the result.`,
  ).toBe(true);
});

test('draws every machine, and shows it on the page', () => {
  const page = files.get('machines/README.md') ?? '';
  for (const { id } of machines) {
    expect([...files.keys()]).toContain(`machines/drawings/${id}.svg`);
    expect(page).toContain(`](drawings/${id}.svg)`);
  }
});

describe.each(drawn)('the drawing of $graph.id', ({ graph, picture }) => {
  const svg = files.get(`machines/drawings/${graph.id}.svg`) ?? '';

  test('stays well-formed, accessible and self-contained', () => {
    const open: string[] = [];
    for (const [, closing, name, empty] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
      if (closing === '/') expect(open.pop()).toBe(name);
      else if (empty !== '/') open.push(name ?? '');
    }
    expect(open).toEqual([]);
    expect(svg).toMatch(/<title [^>]*>State chart of .+<\/title>\n<desc [^>]*>.+ States: .+<\/desc>/);
    expect(svg).not.toMatch(/href|url\(|@import|<script/);
    expect(svg).toContain('prefers-color-scheme: dark');
  });

  test('marks every state and every edge for a live page', () => {
    const states = [...svg.matchAll(/data-state-id="([^"]+)"/g)].map(([, state]) => state);
    expect(states.toSorted()).toEqual(graph.nodes.map((node) => node.id).toSorted());
    const marked = new Set([...svg.matchAll(/data-edge="([^"]+)"/g)].flatMap(([, edges]) => edges!.split(' ')));
    expect([...marked].toSorted()).toEqual(graph.edges.map((edge) => edge.id).toSorted());
  });

  test('writes no label over another, over a state or over a foreign arrow', () => {
    const inner = picture.states.filter(({ node }) => !graph.nodes.some(({ parent }) => parent === node.id));
    for (const [index, { label, arrow }] of picture.arrows.entries()) {
      const others = picture.arrows.filter((_, other) => other !== index);
      expect(others.filter((other) => overlap(label, other.label)).map((other) => other.arrow.edges[0]?.id)).toEqual(
        [],
      );
      expect(inner.filter((state) => overlap(label, state)).map(({ node }) => [arrow.edges[0]?.id, node.id])).toEqual(
        [],
      );
      const crossing = others.filter(({ points }) =>
        segmentsOf(points).some((segment) => overlap(label, boxAround(segment))),
      );
      expect(crossing.map((other) => [arrow.edges[0]?.id, other.arrow.edges[0]?.id])).toEqual([]);
    }
  });

  test('keeps every state inside the one around it, clear of its header and of its neighbours', () => {
    const placed = new Map(picture.states.map((state) => [state.node.id, state]));
    for (const state of picture.states) {
      const around = placed.get(state.node.parent ?? '');
      if (around === undefined) continue;
      expect(state.y).toBeGreaterThan(around.y + around.content.height);
      expect(state.x).toBeGreaterThan(around.x);
      expect(state.x + state.width).toBeLessThan(around.x + around.width);
      expect(state.y + state.height).toBeLessThan(around.y + around.height);
      const neighbours = picture.states.filter(({ node }) => node.parent === state.node.parent && node !== state.node);
      expect(neighbours.filter((other) => overlap(state, other)).map(({ node }) => node.id)).toEqual([]);
    }
  });
});

test('reproduces a drawing exactly', async () => {
  const [one] = drawn.filter(({ graph }) => graph.id === 'upstream');
  expect(await layOut(one!.graph)).toEqual(one!.picture);
});

describe('the width of text', () => {
  test('grows with the text, its size and its weight, and counts characters that are not in the table', () => {
    expect(textWidth('', 12)).toBe(0);
    expect(textWidth('mm', 12)).toBeCloseTo(2 * textWidth('m', 12));
    expect(textWidth('m', 24)).toBeCloseTo(2 * textWidth('m', 12));
    expect(textWidth('m', 12, true)).toBeGreaterThan(textWidth('m', 12));
    expect(textWidth('ж', 10)).toBeGreaterThan(0);
  });

  test('decides where a sentence is broken; a word that is too long is kept whole', () => {
    const lines = wrapText('one two three incomprehensibilities four', 10, 60);
    expect(lines).toEqual(['one two', 'three', 'incomprehensibilities', 'four']);
  });
});

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

function boxAround([from, to]: readonly [{ x: number; y: number }, { x: number; y: number }]): Box {
  return {
    x: Math.min(from.x, to.x),
    y: Math.min(from.y, to.y),
    width: Math.abs(from.x - to.x) + 0.1,
    height: Math.abs(from.y - to.y) + 0.1,
  };
}
