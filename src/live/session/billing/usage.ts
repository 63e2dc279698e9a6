// Who transcribed how much of a session: each sample belongs to the member of the chain that produced the final covering it,
// and what no final covers to the one that heard it last; and how long its connections were open. Samples in, lines for the bill and rows for the client out.
import type { Clock } from '../../../../machines/clock.ts';
import type { UsageRow } from '../../../api/listen-events.ts';
import { lineCostMicroUsd, usageRow, usdOf } from '../../../config/prices/price.ts';
import type { MeterCandidate } from '../../../money/ledger/meter.ts';
import type { UsageLine } from '../../../money/store/calls.ts';

export class Usage {
  readonly #sampleRate: number;
  readonly #members: readonly MeterCandidate[];
  readonly connections: ConnectionTime;
  /** Samples of each member, in the order in which they were first heard from. */
  readonly #samples = new Map<number, number>();
  /** Of each model and account the member whose line was told first: it alone has a minimum, which is charged once. */
  readonly #firsts = new Map<string, number>();
  #attributed = 0;
  #last: number | undefined;
  /** How far some leg has answered for what it was sent, with a final or not, and whose leg that was. */
  #answeredTo = 0;
  #answeredBy: number | undefined;

  constructor(sampleRate: number, members: readonly MeterCandidate[], clock: Pick<Clock, 'now'>) {
    this.#sampleRate = sampleRate;
    this.#members = members;
    this.connections = new ConnectionTime(clock, members);
  }

  /** A leg of the member begins to hear. */
  heardBy(index: number): void {
    const { slug, own, rate } = this.#members[index] as MeterCandidate;
    // One model may be there twice, with other parameters: where they cost the same, its audio is on one line.
    this.#last = this.#members.findIndex((each) => each.slug === slug && each.own === own && each.rate === rate);
    this.connections.opened(this.#last);
  }

  /** Everything up to the sample is covered by a final of the model, which is the one that hears now unless it says otherwise. */
  covered(sample: number, model: string): void {
    this.#add(this.#samples, sample, this.#memberOf(model));
    this.#attributed = Math.max(this.#attributed, sample);
  }

  /** The leg that hears has said what it makes of the audio up to the sample. */
  answered(sample: number): void {
    if (sample <= this.#answeredTo) return;
    this.#answeredTo = sample;
    this.#answeredBy = this.#last;
  }

  /** How far the audio was answered for. */
  get answeredSamples(): number {
    return Math.max(this.#attributed, this.#answeredTo);
  }

  /** What has been answered and has no final is the next member's: what is held from now on pays for no other. */
  forgetAnswers(): void {
    this.#answeredTo = this.#attributed;
    this.#answeredBy = undefined;
  }

  /** The silence up to the sample is not sent again: it stays with the member that heard it before. */
  passedOver(sample: number): void {
    if (this.#last === undefined) return;
    this.#add(this.#samples, sample, this.#last);
    this.#attributed = Math.max(this.#attributed, sample);
  }

  /** Everything up to the sample was lost, as the client was told: no final covers it, so it is not charged. */
  skip(sample: number): void {
    this.#attributed = Math.max(this.#attributed, sample);
  }

  /** Up to here it is settled whose the audio is. */
  get settledMs(): number {
    return this.#msOf(this.#attributed);
  }

  /** What finals cover: it stays whatever happens. */
  settledLines(): UsageLine[] {
    return this.#linesOf(this.#samples, this.#firsts);
  }

  /** The same with the audio up to the sample that no final covers: for the member that answered for it, else the one that hears it now. */
  linesUpTo(sample: number): UsageLine[] {
    if (this.#last === undefined || sample <= this.#attributed) return this.settledLines();
    const samples = new Map(this.#samples);
    const answered = this.#attributeAnswered(samples, sample);
    this.#add(samples, sample, this.#last, answered);
    return this.#linesOf(samples, new Map(this.#firsts));
  }

  /** The rows and their sum, the audio up to the sample included, for the client. */
  rows(lines: readonly UsageLine[]): { usage: UsageRow[]; cost_usd: string } {
    const usage = lines.map((line) => usageRow({ ...line, costMicroUsd: lineCostMicroUsd(line) }));
    return { usage, cost_usd: usdOf(costOf(lines)) };
  }

  /** What was answered for before the sample goes to the member that did. Returns from where on none has. */
  #attributeAnswered(samples: Map<number, number>, sample: number): number {
    const upTo = Math.min(sample, this.#answeredTo);
    this.#add(samples, upTo, this.#answeredBy);
    return Math.max(this.#attributed, upTo);
  }

  #add(samples: Map<number, number>, upTo: number, index: number | undefined, from = this.#attributed): void {
    const more = upTo - from;
    if (more > 0 && index !== undefined) samples.set(index, (samples.get(index) ?? 0) + more);
  }

  #memberOf(model: string): number | undefined {
    if (this.#last !== undefined && this.#members[this.#last]?.slug === model) return this.#last;
    const index = this.#members.findIndex(({ slug }) => slug === model);
    return index === -1 ? this.#last : index;
  }

  /** @param firsts as above; those that are told of now are added */
  #linesOf(samples: ReadonlyMap<number, number>, firsts: Map<string, number>): UsageLine[] {
    const lines: UsageLine[] = [];
    for (const index of new Set([...samples.keys(), ...this.connections.indexes])) {
      const audioMs = Math.round(this.#msOf(samples.get(index) ?? 0));
      const connectionMs = this.connections.msOf(index);
      // Not told of yet: another line of its model may come to be the first.
      if (audioMs === 0 && connectionMs === 0) continue;
      const { slug, own, rate, price, counted } = this.#members[index] as MeterCandidate;
      const name = `${slug} ${own}`;
      if (!firsts.has(name)) firsts.set(name, index);
      const isFirst = firsts.get(name) === index;
      const line: UsageLine = { model: slug, own, audioMs, price: isFirst ? price : { ...price, minimumMicroUsd: 0n } };
      if (rate !== undefined) line.rate = rate;
      if (counted) line.counted = true;
      if (connectionMs > 0) line.connectionMs = connectionMs;
      lines.push(line);
    }
    return lines;
  }

  #msOf(samples: number): number {
    return (samples / this.#sampleRate) * 1000;
  }
}

export const costOf = (lines: readonly UsageLine[]): bigint =>
  lines.reduce((sum, line) => sum + lineCostMicroUsd(line), 0n);

/**
 * How long the connections of a session were open to models whose price is metered by that, by the gateway's own clock and no longer
 * than money is held for.
 */
export class ConnectionTime {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #members: readonly MeterCandidate[];
  /** Milliseconds of each member, in the order in which they were connected first. */
  readonly #counted = new Map<number, number>();
  #open: { index: number; sinceMs: number; limitMs: number } | undefined;

  constructor(clock: Pick<Clock, 'now'>, members: readonly MeterCandidate[]) {
    this.#clock = clock;
    this.#members = members;
  }

  /** A leg of the member is ready. */
  opened(index: number): void {
    this.closed();
    if (this.#members[index]?.metered === 'connection') {
      this.#open = { index, sinceMs: this.#clock.now() - (this.#counted.get(index) ?? 0), limitMs: 0 };
    }
  }

  /** The leg was released. */
  closed(): void {
    if (this.#open !== undefined) this.#counted.set(this.#open.index, this.msOf(this.#open.index));
    this.#open = undefined;
  }

  /** What is held pays for so much of the member that is connected. What was counted already stays. */
  limitTo(ms: number): void {
    if (this.#open !== undefined) this.#open.limitMs = Math.max(ms, this.msOf(this.#open.index));
  }

  /** How long the connection may still be open; without end where none is that is metered so. */
  get leftMs(): number {
    const open = this.#open;
    return open === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(0, open.limitMs - (this.#clock.now() - open.sinceMs));
  }

  /** Members with such connections. */
  get indexes(): number[] {
    const counted = this.#counted;
    const open = this.#open;
    const indexes = open === undefined ? [...counted.keys()] : [...counted.keys(), open.index];
    return indexes.filter((index) => this.msOf(index) > 0);
  }

  /** Whole milliseconds: what is billed never takes more than was counted. */
  msOf(index: number): number {
    const open = this.#open;
    const before = this.#counted.get(index) ?? 0;
    if (open?.index !== index) return before;
    return Math.max(before, Math.floor(Math.min(open.limitMs, this.#clock.now() - open.sinceMs)));
  }
}
