// A state chart that can be panned and zoomed, with its current states lit and the edges just taken shown.

import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { SCROLLING } from '../controls/scrolling.ts';
import { DRAWINGS } from './drawings.ts';

interface ChartProps {
  machine: string;
  /** As XState writes it; undefined lights nothing. */
  value?: unknown;
  /** Ids of edges. */
  taken?: readonly string[];
  /** How many actors are in each state, by its id. */
  counts?: Readonly<Record<string, number>> | undefined;
}

const ZOOM = { min: 0.2, legible: 0.7, max: 3, step: 1.25 } as const;

export function Chart({ machine, value, taken = [], counts }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const zoom = useSignal(1);
  const svg = DRAWINGS.get(machine) ?? '';
  // Before anything of it is lit or sized.
  useLayoutEffect(() => box.current?.replaceChildren(drawn(svg)), [svg]);
  // A chart that tells where something is can be read; what is beyond is one drag away.
  const least = value === undefined ? ZOOM.min : ZOOM.legible;
  useEffect(() => fit(box.current, (scale) => (zoom.value = Math.max(least, scale))), [machine]);
  useEffect(() => light(box.current, machine, value, taken), [machine, value, taken]);
  useEffect(() => count(box.current, counts), [machine, counts]);
  useEffect(() => size(box.current, zoom.value), [machine, zoom.value]);
  const now = JSON.stringify(value);
  useEffect(() => show(box.current), [machine, zoom.value, now]);
  const by = (factor: number) => {
    zoom.value = Math.min(ZOOM.max, Math.max(ZOOM.min, zoom.value * factor));
  };
  return (
    <figure class="drawn">
      <div class="row">
        <button type="button" aria-label="Larger" onClick={() => by(ZOOM.step)}>
          +
        </button>
        <button type="button" aria-label="Smaller" onClick={() => by(1 / ZOOM.step)}>
          −
        </button>
        <button type="button" onClick={() => fit(box.current, (scale) => (zoom.value = scale))}>
          Fit
        </button>
        <span class="quiet small">{Math.round(zoom.value * 100)} %, drag to move</span>
      </div>
      <div ref={box} class="view" {...SCROLLING} onPointerDown={(event) => pan(box.current, event)} />
    </figure>
  );
}

/** Ids of the states that a value names: `{live: {link: 'streaming'}}` of `session` is `session`, `session.live`, … */
export function statesIn(machine: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [machine, `${machine}.${value}`];
  const inner = Object.entries(value as Record<string, unknown>);
  return [machine, ...inner.flatMap(([key, below]) => statesIn(`${machine}.${key}`, below))];
}

function drawn(svg: string): Node {
  return document.importNode(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement, true);
}

function light(box: HTMLElement | null, machine: string, value: unknown, taken: readonly string[]): void {
  if (box === null) return;
  const current = new Set(statesIn(machine, value));
  // The machine as a whole is always current.
  current.delete(machine);
  for (const state of box.querySelectorAll<SVGElement>('[data-state-id]')) {
    state.classList.toggle('is-current', current.has(state.dataset.stateId ?? ''));
  }
  for (const edge of box.querySelectorAll<SVGElement>('[data-edge]')) {
    const ids = (edge.dataset.edge ?? '').split(' ');
    edge.classList.toggle(
      'is-taken',
      ids.some((id) => taken.includes(id)),
    );
  }
}

/** In units of the drawing. */
const PILL = { height: 26, digit: 12, padding: 16 } as const;

/** A number on the corner of each innermost state in which somebody is: those around it have the sum. */
function count(box: HTMLElement | null, counts: Readonly<Record<string, number>> | undefined): void {
  for (const old of box?.querySelectorAll('.count') ?? []) old.remove();
  for (const state of box?.querySelectorAll<SVGGElement>('.atomic[data-state-id]') ?? []) {
    const number = counts?.[state.dataset.stateId ?? ''] ?? 0;
    const card = state.querySelector('rect');
    if (number === 0 || card === null) continue;
    const { x, y, width } = card;
    state.ownerSVGElement?.append(pill(String(number), x.baseVal.value + width.baseVal.value, y.baseVal.value));
  }
}

function pill(words: string, x: number, y: number): SVGElement {
  const { height, digit, padding } = PILL;
  const width = words.length * digit + padding;
  const shape = { x: x - width / 2, y: y - height / 2, width, height, rx: height / 2 };
  const whole = svgElement('g', { class: 'count' });
  const text = svgElement('text', { x, y, 'text-anchor': 'middle', 'dominant-baseline': 'central' });
  text.textContent = words;
  whole.append(svgElement('rect', shape), text);
  return whole;
}

function svgElement(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

function fit(box: HTMLElement | null, tell: (scale: number) => void): void {
  const width = box?.querySelector('svg')?.viewBox.baseVal.width;
  if (box === null || width === undefined) return;
  tell(Math.min(1, Math.max(ZOOM.min, box.clientWidth / width)));
}

function size(box: HTMLElement | null, scale: number): void {
  const svg = box?.querySelector('svg');
  if (svg === null || svg === undefined) return;
  svg.setAttribute('width', String(svg.viewBox.baseVal.width * scale));
  svg.setAttribute('height', String(svg.viewBox.baseVal.height * scale));
}

/** Brings the innermost current state into sight. */
function show(box: HTMLElement | null): void {
  const state = [...(box?.querySelectorAll<SVGElement>('.is-current') ?? [])].find(
    (one) => !(box as HTMLElement).querySelector(`.is-current[data-state-id^="${one.dataset.stateId}."]`),
  );
  if (box === null || state === undefined) return;
  const [outer, inner] = [box.getBoundingClientRect(), state.getBoundingClientRect()];
  if (inner.top >= outer.top && inner.bottom <= outer.bottom && inner.left >= outer.left && inner.right <= outer.right)
    return;
  box.scrollTo({
    left: box.scrollLeft + inner.left - outer.left - (outer.width - inner.width) / 2,
    top: box.scrollTop + inner.top - outer.top - (outer.height - inner.height) / 2,
    behavior: 'smooth',
  });
}

function pan(box: HTMLElement | null, { clientX, clientY, pointerId, button }: PointerEvent): void {
  if (box === null || button !== 0) return;
  const from = { x: box.scrollLeft + clientX, y: box.scrollTop + clientY };
  const move = (event: PointerEvent) => box.scrollTo(from.x - event.clientX, from.y - event.clientY);
  box.setPointerCapture(pointerId);
  box.addEventListener('pointermove', move);
  box.addEventListener('pointerup', () => box.removeEventListener('pointermove', move), { once: true });
}
