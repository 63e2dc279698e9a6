// Audio of a session that was sent more than once, or in vain: which the providers bill, and the customer does not pay twice. Works on the
// positions where legs begin and end; nothing is done for a chunk.
import type { MeterCandidate } from '../../../money/ledger/meter.ts';
import type { SentAgain } from '../../../money/store/calls.ts';

interface Leg {
  index: number;
  from: number;
  /** Undefined while it is open. */
  sentTo: number | undefined;
}

export class LegTally {
  readonly #sampleRate: number;
  readonly #members: readonly MeterCandidate[];
  readonly #sums = new Map<string, SentAgain>();
  #leg: Leg | undefined;
  /** How far any earlier leg was sent. */
  #sentMax = 0;

  constructor(sampleRate: number, members: readonly MeterCandidate[]) {
    this.#sampleRate = sampleRate;
    this.#members = members;
  }

  /** A leg of the member is sent the audio from the sample on. */
  begin(index: number, from: number): void {
    // A leg that goes on with other options was sent everything until here.
    this.end(from);
    this.#count(from);
    this.#leg = { index, from, sentTo: undefined };
  }

  /** The leg that is open was sent the audio up to the sample. */
  end(sentTo: number): void {
    if (this.#leg !== undefined) this.#leg.sentTo ??= sentTo;
  }

  /** A connection to the member that was opened ahead is closed, or has the audio from now on. */
  openedAhead(index: number, reason: 'standby' | 'probe', connectionMs: number): void {
    this.#sum(index, reason, 0, Math.round(connectionMs));
  }

  /** The session is over, and charged up to the sample. */
  total(sentTo: number, chargedTo: number): SentAgain[] {
    this.end(sentTo);
    this.#count(chargedTo);
    return [...this.#sums.values()];
  }

  /** @param usedTo what was sent after this sample was sent in vain: the next leg hears it again, or it is not charged */
  #count(usedTo: number): void {
    const leg = this.#leg;
    if (leg?.sentTo === undefined) return;
    this.#leg = undefined;
    const { index, from, sentTo } = leg;
    const usefulTo = Math.max(from, Math.min(sentTo, usedTo));
    this.#add(index, 'failed', sentTo - usefulTo);
    this.#add(index, 'replayed', Math.min(usefulTo, this.#sentMax) - from);
    this.#sentMax = Math.max(this.#sentMax, sentTo);
  }

  #add(index: number, reason: SentAgain['reason'], samples: number): void {
    const audioMs = Math.round((samples / this.#sampleRate) * 1000);
    if (audioMs > 0) this.#sum(index, reason, audioMs);
  }

  #sum(index: number, reason: SentAgain['reason'], audioMs: number, connectionMs?: number): void {
    const member = this.#members[index];
    if (member === undefined) return;
    const { slug: model, own } = member;
    const name = `${reason} ${own} ${model}`;
    const sum = this.#sums.get(name) ?? { model, own, reason, legs: 0, audioMs: 0 };
    sum.legs++;
    sum.audioMs += audioMs;
    if (connectionMs !== undefined) sum.connectionMs = (sum.connectionMs ?? 0) + connectionMs;
    this.#sums.set(name, sum);
  }
}
