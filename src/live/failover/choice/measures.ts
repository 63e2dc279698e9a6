// How each model has been doing in the last six hours, as this node has met it and as other nodes report it: attempts, failures and
// delays, by mode. Counts only: nothing of what was said, and nothing of one organisation leaves the node.
import type { Clock } from '../../../../machines/clock.ts';
import type { Mode } from '../../../api/models.ts';
import type { Accuracy } from '../../../config/accuracy.ts';
import type { Guarded } from '../breakers/guarded.ts';
import { CELLS, cellOf, medianOf, totalOf } from './delays.ts';
import { type Counts, failuresOf, type Outcome, Outcomes } from './outcomes.ts';

const SLOT_MS = 10 * 60_000;
/** Six hours. */
const SLOTS_MAX = 36;
/** A model and a mode each; those beyond it are not measured. */
const MEASURED_MAX = 1_000;
/** Other nodes of which reports are kept. */
const NODES_MAX = 256;
/** A report of another node holds for this long, unless it is repeated. */
export const REPORT_MS = 12 * 60_000;
/** One node weighs no more than this number of attempts, and of delays. */
const WEIGHT_MAX = 10_000;

/** What a node reports of a model. */
export interface Totals extends Counts {
  /** By cell: see delays.ts. */
  delays: ArrayLike<number>;
}

/** What the models are ranked by. */
export interface Figures {
  attempts: number;
  failures: number;
  /** Median of the delays: until the first words, or for a second of a file. */
  delayMs: number | undefined;
  delays: number;
}

/** What models are chosen by. */
export interface ChoiceDependencies {
  figuresOf(mode: Mode, slug: string): Figures;
  /** Whether calls should go elsewhere. */
  isOpen(guarded: Guarded): boolean;
  /** What the operator has measured of a model in a language, or without a named one; absent where nothing is kept. */
  accuracyOf?(slug: string, language: string | null): Accuracy | undefined;
}

const NO_FIGURES: Figures = { attempts: 0, failures: 0, delayMs: undefined, delays: 0 };

interface Slot {
  number: number;
  outcomes: Outcomes;
  delays: Uint32Array;
}

/** A slot that is over: organisations are forgotten. */
interface PastSlot {
  number: number;
  counts: Counts;
  delays: Uint32Array;
}

export class ModelMeasures {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #here = new Map<string, MeasuredModel>();
  /** By node, then by model. */
  readonly #elsewhere = new Map<string, Map<string, { totals: Totals; untilMs: number }>>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Something came of an attempt. */
  outcome(mode: Mode, slug: string, outcome: Outcome, organisationId?: string): void {
    this.#of(mode, slug)?.open(this.#slot).outcomes.add(outcome, organisationId);
  }

  delayed(mode: Mode, slug: string, ms: number): void {
    const delays = this.#of(mode, slug)?.open(this.#slot).delays;
    if (delays === undefined) return;
    const cell = cellOf(ms);
    delays[cell] = (delays[cell] as number) + 1;
  }

  /** Of all nodes together. */
  figuresOf(mode: Mode, slug: string): Figures {
    const name = nameOf(mode, slug);
    const sum = { attempts: 0, errors: 0, empties: 0, delays: new Float64Array(CELLS) };
    const here = this.#here.get(name)?.totals(this.#slot);
    if (here !== undefined) addBounded(sum, here);
    const nowMs = this.#clock.now();
    for (const reports of this.#elsewhere.values()) {
      const report = reports.get(name);
      if (report !== undefined && report.untilMs > nowMs) addBounded(sum, report.totals);
    }
    const delays = totalOf(sum.delays);
    if (sum.attempts === 0 && delays === 0) return NO_FIGURES;
    return { attempts: sum.attempts, failures: failuresOf(sum), delayMs: medianOf(sum.delays), delays };
  }

  /** What this node has met, by model and mode. */
  here(): { mode: Mode; slug: string; totals: Totals }[] {
    const now = this.#slot;
    return [...this.#here.values()].map((model) => ({ mode: model.mode, slug: model.slug, totals: model.totals(now) }));
  }

  /** Another node reports what it has met: it replaces its earlier report of the model. */
  reported(node: string, mode: Mode, slug: string, totals: Totals): 'taken' | 'no_room' {
    const nowMs = this.#clock.now();
    if (!this.#elsewhere.has(node) && this.#elsewhere.size >= NODES_MAX) this.#forgetSilent(nowMs);
    const reports = this.#elsewhere.get(node) ?? new Map<string, { totals: Totals; untilMs: number }>();
    const name = nameOf(mode, slug);
    const hasRoom = this.#elsewhere.has(node) || this.#elsewhere.size < NODES_MAX;
    if (!hasRoom || (!reports.has(name) && reports.size >= MEASURED_MAX)) return 'no_room';
    this.#elsewhere.set(node, reports);
    reports.set(name, { totals, untilMs: nowMs + REPORT_MS });
    return 'taken';
  }

  /** The node is gone, and so is what it had counted. */
  nodeGone(node: string): void {
    this.#elsewhere.delete(node);
  }

  #forgetSilent(nowMs: number): void {
    for (const [node, reports] of this.#elsewhere)
      if ([...reports.values()].every(({ untilMs }) => untilMs <= nowMs)) this.#elsewhere.delete(node);
  }

  get #slot(): number {
    return Math.floor(this.#clock.now() / SLOT_MS);
  }

  #of(mode: Mode, slug: string): MeasuredModel | undefined {
    const name = nameOf(mode, slug);
    const known = this.#here.get(name);
    if (known !== undefined || this.#here.size >= MEASURED_MAX) return known;
    const model = new MeasuredModel(mode, slug);
    this.#here.set(name, model);
    return model;
  }
}

const nameOf = (mode: Mode, slug: string): string => `${mode} ${slug}`;

class MeasuredModel {
  readonly mode: Mode;
  readonly slug: string;
  #open: Slot | undefined;
  #past: PastSlot[] = [];

  constructor(mode: Mode, slug: string) {
    this.mode = mode;
    this.slug = slug;
  }

  /** The slot of now. */
  open(number: number): Slot {
    if (this.#open?.number === number) return this.#open;
    if (this.#open !== undefined) {
      this.#past.push({ number: this.#open.number, counts: this.#open.outcomes.counted(), delays: this.#open.delays });
    }
    this.#open = { number, outcomes: new Outcomes(), delays: new Uint32Array(CELLS) };
    this.#past = this.#past.filter((slot) => isRecent(slot, number));
    return this.#open;
  }

  totals(now: number): Totals {
    const sum = { attempts: 0, errors: 0, empties: 0, delays: new Uint32Array(CELLS) };
    const add = ({ attempts, errors, empties }: Counts, delays: Uint32Array) => {
      sum.attempts += attempts;
      sum.errors += errors;
      sum.empties += empties;
      for (let cell = 0; cell < CELLS; cell++)
        sum.delays[cell] = (sum.delays[cell] as number) + (delays[cell] as number);
    };
    for (const slot of this.#past) if (isRecent(slot, now)) add(slot.counts, slot.delays);
    if (this.#open !== undefined && isRecent(this.#open, now)) add(this.#open.outcomes.counted(), this.#open.delays);
    return sum;
  }
}

const isRecent = ({ number }: { number: number }, now: number): boolean => number > now - SLOTS_MAX;

/** Adds what one node has counted, with no more than its weight. */
function addBounded(sum: Counts & { delays: Float64Array }, { attempts, errors, empties, delays }: Totals): void {
  const part = attempts > WEIGHT_MAX ? WEIGHT_MAX / attempts : 1;
  sum.attempts += attempts * part;
  sum.errors += Math.min(errors, attempts) * part;
  sum.empties += Math.min(empties, attempts - Math.min(errors, attempts)) * part;
  const total = totalOf(delays);
  const share = total > WEIGHT_MAX ? WEIGHT_MAX / total : 1;
  for (let cell = 0; cell < CELLS; cell++)
    sum.delays[cell] = (sum.delays[cell] as number) + (delays[cell] ?? 0) * share;
}
