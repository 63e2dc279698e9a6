// Joins a session to its meter: audio goes no further than what is held pays for, more is requested in time, and a session
// that can pay no more ends after its last final. What was heard is billed, and what was cut off is named.
import type { SessionEndReason } from '../../../../machines/events.ts';
import type { AudioFrame } from '../../../api/console/watching.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import { usdOf } from '../../../config/prices/price.ts';
import type { Meter, MeterState, Shortage } from '../../../money/ledger/meter.ts';
import { shortageCodes, shortageReasons, shortageWords } from '../../../money/ledger/shortage.ts';
import type { Redactions, UsageLine } from '../../../money/store/calls.ts';
import type { ReachedCeiling } from '../../../money/store/ceiling-words.ts';
import { type EventWriter, secondsOf } from '../event-writer.ts';
import type { Signals } from '../signals.ts';
import { LegTally } from './leg-tally.ts';
import { costOf, type Usage } from './usage.ts';

/** The parts of the session that its money concerns. */
export interface SpendingParts {
  pipeline: AudioPipeline;
  usage: Usage;
  events: Pick<EventWriter, 'warn'>;
  signals: Signals;
  /** A ceiling leaves no more for the member that hears. False where no other member can take over. */
  continuesCheaper(): boolean;
  /** What was redacted so far; undefined for nothing. */
  redactions?(): Redactions | undefined;
}

export interface SessionFigures extends Omit<AudioFrame, 'kind' | 'sequence' | 'at'> {
  /** Undefined once the session is settled. */
  money: MeterState | undefined;
}

export class Spending {
  readonly #meter: Meter;
  readonly #pipeline: AudioPipeline;
  readonly #usage: Usage;
  readonly #legs: LegTally;
  readonly #sampleRate: number;
  readonly #events: SpendingParts['events'];
  readonly #signals: Signals;
  readonly #continuesCheaper: SpendingParts['continuesCheaper'];
  /** The member that hears. */
  #index = 0;
  /** Whether another member takes over is to be found out. */
  #isChecking = false;
  readonly #redactions: SpendingParts['redactions'];
  /** What the client was told that it pays for. */
  #billed: UsageLine[] | undefined;
  #billedTo = 0;
  /** Undefined until the session is settled. */
  #charged: readonly UsageLine[] | undefined;
  /** The highest figures shown so far. Audio replayed after a failover is counted and paid for once. */
  #shownSamples = 0;
  #shownMicroUsd = 0n;

  constructor(meter: Meter, sampleRate: number, parts: SpendingParts) {
    const { pipeline, usage, events, signals, continuesCheaper, redactions } = parts;
    this.#meter = meter;
    this.#pipeline = pipeline;
    this.#usage = usage;
    this.#legs = new LegTally(sampleRate, meter.members);
    this.#sampleRate = sampleRate;
    this.#events = events;
    this.#signals = signals;
    this.#continuesCheaper = continuesCheaper;
    this.#redactions = redactions;
  }

  start(): void {
    const usage = this.#usage;
    const pipeline = this.#pipeline;
    const ms = (samples: number) => (samples / this.#sampleRate) * 1000;
    this.#limitTo(this.#meter.allowedMs);
    this.#meter.attach(
      {
        settledLines: () => usage.settledLines(),
        sentLines: () => usage.linesUpTo(pipeline.sentSamples),
        settledMs: () => usage.settledMs,
        sentMs: () => ms(pipeline.sentSamples),
        receivedMs: () => ms(pipeline.receivedSamples),
        connectionLeftMs: () => usage.connections.leftMs,
        redactions: () => this.#redactions?.(),
      },
      {
        extended: (allowedMs, connectionMs) => {
          this.#limitTo(allowedMs);
          usage.connections.limitTo(connectionMs);
          this.#signals.emit('audioAllowed');
        },
        ranOut: () => this.starved(),
        reached: (ceiling) => this.#warnOf(ceiling),
        low: (shortage, leftMs) =>
          this.#events.warn({ code: lowCodes[shortage], message: lowWords(shortage, leftMs, this.#hasCheaper) }),
      },
    );
  }

  /** Audio and money so far, and what the two wait for, for whoever looks at the session. */
  figures(): SessionFigures {
    const { receivedSamples, sentSamples } = this.#pipeline;
    const seconds = (samples: number) => secondsOf(samples, this.#sampleRate);
    const charged = this.#charged;
    this.#shownSamples = Math.max(this.#shownSamples, sentSamples);
    const soFar = costOf(this.#usage.linesUpTo(this.#shownSamples));
    if (soFar > this.#shownMicroUsd) this.#shownMicroUsd = soFar;
    return {
      received_seconds: seconds(receivedSamples),
      sent_seconds: seconds(this.#shownSamples),
      settled_seconds: this.#usage.settledMs / 1000,
      held_usd: usdOf(charged === undefined ? this.#meter.heldMicroUsd : 0n),
      cost_usd: usdOf(charged === undefined ? this.#shownMicroUsd : costOf(charged)),
      money: charged === undefined ? this.#meter.state : undefined,
    };
  }

  /** Another member of the chain hears from now on. */
  heardBy(index: number): void {
    this.#index = index;
    this.#usage.heardBy(index);
    this.#legs.begin(index, this.#pipeline.sentSamples);
    this.#meter.use(index);
  }

  /** A connection to the member that was opened ahead, without audio, was open for so long. */
  openedAhead(index: number, reason: 'standby' | 'probe', connectionMs: number): void {
    this.#legs.openedAhead(index, reason, connectionMs);
  }

  /** The leg is sent nothing more. */
  legEnded(): void {
    this.#legs.end(this.#pipeline.sentSamples);
  }

  sent(): void {
    this.#meter.sent();
  }

  /** Audio, or the connection, waits for money. Where there is none to come, it ends here. */
  starved(): void {
    const shortage = this.#meter.starved();
    if (shortage === undefined) return;
    if (shortage === 'ceiling' && this.#hasCheaper) this.#checkCheaper();
    else this.#end(shortage);
  }

  /** The member that hears, or heard last. */
  get index(): number {
    return this.#index;
  }

  /** Whether a ceiling that is nearly reached leaves that member of the chain. */
  leaves(index: number): boolean {
    return this.#meter.leaves(index);
  }

  /** Whether such a ceiling may not last for another turn. */
  get isCeilingNear(): boolean {
    return this.#meter.isCeilingNear;
  }

  /** A cheaper member takes over: what has no final is charged at its price. */
  continuing(): void {
    this.#usage.forgetAnswers();
  }

  get #hasCheaper(): boolean {
    return this.#meter.members.some((_, index) => index !== this.#index && this.#meter.leaves(index));
  }

  /** In a microtask: a leg that has just become ready is not known to the chart yet. */
  #checkCheaper(): void {
    if (this.#isChecking) return;
    this.#isChecking = true;
    queueMicrotask(() => {
      this.#isChecking = false;
      if (this.#charged === undefined && !this.#continuesCheaper()) this.#end('ceiling');
    });
  }

  #end(shortage: Shortage): void {
    this.#pipeline.cut();
    this.#signals.emit('stop', shortageReasons[shortage], shortageCodes[shortage], shortageWords[shortage]);
    // What is left before the cut may leave now, also where the session was ending already.
    this.#signals.emit('audioAllowed');
  }

  /** What the client pays for when the audio up to the sample was heard. */
  bill(upToSample: number): ReturnType<Usage['rows']> {
    this.#billed = this.#usage.linesUpTo(upToSample);
    this.#billedTo = upToSample;
    return this.#usage.rows(this.#billed);
  }

  settle(reason: SessionEndReason, code: string | null, endedAt: Date): void {
    const usage = this.#usage;
    // An end that could not be told is a fault of the gateway.
    const lines = this.#billed ?? usage.settledLines();
    this.#charged = lines;
    const redactions = this.#redactions?.();
    this.#meter.settle({
      endedAt: endedAt.toISOString(),
      reason,
      code,
      audioMs: Math.round((this.#pipeline.receivedSamples / this.#sampleRate) * 1000),
      lines,
      sentAgain: this.#legs.total(this.#pipeline.sentSamples, this.#billedTo),
      ...(redactions === undefined ? {} : { redactions }),
    });
  }

  /** The gateway's own ceilings are for its operator. */
  #warnOf({ scope, provider, period, percent, limitMicroUsd }: ReachedCeiling): void {
    if (scope === 'gateway') return;
    const whose = scope.startsWith('key_') ? 'key' : 'organisation';
    const at = provider === '' ? '' : ` at ${provider}`;
    const message = `${percent} % of the spend ceiling of the ${whose} is used: ${usdOf(limitMicroUsd)} USD a ${period}${at}.`;
    this.#events.warn({ code: 'spend_ceiling_near', message });
  }

  #limitTo(allowedMs: number): void {
    this.#pipeline.limitTo(Math.floor((allowedMs / 1000) * this.#sampleRate));
  }
}

const lowCodes = {
  credit: 'credit_low',
  daily_spend: 'daily_spend_low',
  ceiling: 'spend_ceiling_low',
  max_cost: 'max_cost_low',
  ledger: 'ledger_unavailable',
} as const;

function lowWords(shortage: Shortage, leftMs: number, hasCheaper: boolean): string {
  const left = `${Math.floor(leftMs / 1000)} s of audio`;
  if (shortage === 'ceiling' && hasCheaper)
    return `${shortageWords.ceiling} The session continues with a cheaper model in ${left} or at the end of a turn.`;
  if (shortage === 'max_cost') return `The session reaches its \`max_cost\` and ends in ${left}.`;
  return `${shortageWords[shortage]} The session ends in ${left} if nothing changes.`;
}
