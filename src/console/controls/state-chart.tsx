// The state charts of the gateway, with what their drawings say of them. A drawn chart can be panned and zoomed; its current states are lit,
// and the edges just taken are marked.
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import account from '../../../machines/drawings/account.svg?raw';
import apiKey from '../../../machines/drawings/api-key.svg?raw';
import breaker from '../../../machines/drawings/breaker.svg?raw';
import clientToken from '../../../machines/drawings/client-token.svg?raw';
import failover from '../../../machines/drawings/failover.svg?raw';
import node from '../../../machines/drawings/node.svg?raw';
import providerKey from '../../../machines/drawings/provider-key.svg?raw';
import session from '../../../machines/drawings/session.svg?raw';
import turn from '../../../machines/drawings/turn.svg?raw';
import upstream from '../../../machines/drawings/upstream.svg?raw';
import { SCROLLING } from './page.tsx';

/** By the id of the machine, in the order of their names: inline, so that the page's own style sheet applies. */
export const DRAWINGS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    account,
    'api-key': apiKey,
    breaker,
    'client-token': clientToken,
    failover,
    node,
    'provider-key': providerKey,
    session,
    turn,
    upstream,
  }).map(([id, svg]) => [id, svg.replace(/<style>[\s\S]*?<\/style>\n?/, '')]),
);

/** What a machine is for, in its own words. */
export function purposeOf(svg: string): string {
  return textOf(/<desc[^>]*>([^<]*)<\/desc>/.exec(svg)?.[1] ?? '').replace(/ States: .*$/, '');
}

export interface Transition {
  from: string;
  event: string;
}

/** States and the events that leave them, as the drawing has them. */
export function transitionsOf(svg: string): Transition[] {
  return [...svg.matchAll(/class="edge-text" data-edge="([^"]+)"[^>]*>(.*?)<\/g>/g)].map(
    ([, edge = '', words = '']) => ({
      from: edge.slice(0, edge.indexOf(':')),
      event: textOf(words.replaceAll(/<[^>]*>/g, ' '))
        .replaceAll(/\s+/g, ' ')
        .trim(),
    }),
  );
}

export function statesOf(svg: string): string[] {
  return [...svg.matchAll(/data-state-id="([^"]+)"/g)].map(([, id = '']) => id);
}

const textOf = (escaped: string): string =>
  escaped.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

interface ChartProps {
  machine: string;
  /** As XState writes it; undefined lights nothing. */
  value?: unknown;
  /** Ids of edges. */
  taken?: readonly string[];
  /** How many actors are in each state, by its id. */
  counts?: Readonly<Record<string, number>> | undefined;
}

const ZOOM = { min: 0.15, legible: 0.55, comfortable: 0.8, max: 3, step: 1.25 } as const;
/** Around the followed state, in units of the drawing. */
const MARGIN = 120;

export function Chart({ machine, value, taken = [], counts }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const zoom = useSignal(1);
  /** Until the user moves it. */
  const follows = useSignal(value !== undefined);
  const svg = DRAWINGS.get(machine) ?? '';
  // Before anything of it is lit or sized.
  useLayoutEffect(() => box.current?.replaceChildren(drawn(svg)), [svg]);
  useEffect(() => {
    zoom.value = fitting(box.current);
  }, [machine]);
  useLayoutEffect(() => light(box.current, machine, value, taken), [machine, value, taken]);
  useEffect(() => count(box.current, counts), [machine, counts]);
  const now = JSON.stringify(value);
  useLayoutEffect(() => {
    if (follows.value) zoom.value = legible(box.current);
    size(box.current, zoom.value);
    if (follows.value) show(box.current, zoom.value);
  }, [machine, zoom.value, now, follows.value]);
  const by = (factor: number) => {
    follows.value = false;
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
        <button type="button" onClick={() => by(fitting(box.current) / zoom.value)}>
          Fit
        </button>
        {value === undefined ? null : (
          <button type="button" aria-pressed={follows.value} onClick={() => (follows.value = !follows.value)}>
            Follow
          </button>
        )}
        <span class="quiet small">{Math.round(zoom.value * 100)} %, drag to move</span>
      </div>
      <div
        ref={box}
        class="view"
        {...SCROLLING}
        onPointerDown={(event) => {
          follows.value = false;
          pan(box.current, event);
        }}
      />
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

/** Of several regions the first, which says most: `session.live.link.streaming`. */
function leafOf(id: string, value: unknown): string {
  if (typeof value === 'string') return `${id}.${value}`;
  const [first] = Object.entries((value ?? {}) as Record<string, unknown>);
  return first === undefined ? id : leafOf(`${id}.${first[0]}`, first[1]);
}

function drawn(svg: string): Node {
  return document.importNode(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement, true);
}

function light(box: HTMLElement | null, machine: string, value: unknown, taken: readonly string[]): void {
  if (box === null) return;
  const current = new Set(statesIn(machine, value));
  const followed = leafOf(machine, value);
  // The machine as a whole is always current.
  current.delete(machine);
  for (const state of box.querySelectorAll<SVGElement>('[data-state-id]')) {
    state.classList.toggle('is-current', current.has(state.dataset.stateId ?? ''));
    state.classList.toggle('is-followed', state.dataset.stateId === followed);
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

/** A number on the corner of each innermost state with actors in it. */
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

/** The zoom at which the whole drawing is in the box. */
function fitting(box: HTMLElement | null): number {
  const whole = box?.querySelector('svg')?.viewBox.baseVal;
  if (box === null || whole === undefined) return 1;
  return Math.min(1, Math.max(ZOOM.min, Math.min(box.clientWidth / whole.width, box.clientHeight / whole.height)));
}

/** The zoom at which the state that is followed is in the box and can be read; what is beyond is one drag away. */
function legible(box: HTMLElement | null): number {
  const around = currentBounds(box);
  const whole = fitting(box);
  if (box === null || around === undefined) return whole;
  const { width, height } = around;
  const room = Math.min(box.clientWidth / (width + MARGIN), box.clientHeight / (height + MARGIN));
  return Math.max(whole, Math.min(1, Math.max(ZOOM.legible, Math.min(room, ZOOM.comfortable))));
}

type Bounds = Pick<DOMRect, 'x' | 'y' | 'width' | 'height'>;

/** Of the state that is followed, in units of the drawing. */
function currentBounds(box: HTMLElement | null): Bounds | undefined {
  return box?.querySelector<SVGGraphicsElement>('.is-followed > rect, .is-followed rect')?.getBBox();
}

function size(box: HTMLElement | null, scale: number): void {
  const svg = box?.querySelector('svg');
  if (svg === null || svg === undefined) return;
  svg.setAttribute('width', String(svg.viewBox.baseVal.width * scale));
  svg.setAttribute('height', String(svg.viewBox.baseVal.height * scale));
}

/** Brings the state that is followed into the middle of the box. */
function show(box: HTMLElement | null, zoom: number): void {
  const around = currentBounds(box);
  if (box === null || around === undefined) return;
  box.scrollTo({
    left: (around.x + around.width / 2) * zoom - box.clientWidth / 2,
    top: (around.y + around.height / 2) * zoom - box.clientHeight / 2,
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
