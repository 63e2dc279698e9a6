// Ends the reservation of a file: charges all that was heard, or what the client was sent of it, or nothing. Which of these is
// decided by the job.
import type { ChainMember } from '../../live/failover/chain.ts';
import { isFree } from '../../money/ledger/meter.ts';
import type { FileMember, HeardFile, ReservedFile } from './file-reservations.ts';

/** What was charged. `own`: with the organisation's own provider key. */
export interface Charge {
  costMicroUsd: bigint;
  own: boolean;
  /** Channels that were charged; 1 where the provider bills the audio once. */
  channels: number;
}

/** What a model has heard, as far as it costs. */
interface HeardAudio {
  member: ChainMember;
  seconds: number;
  claimedSeconds?: number | undefined;
}

export class FileBill {
  readonly #members: readonly ChainMember[];
  readonly #payers: readonly FileMember[];
  readonly #reserved: ReservedFile;
  /** What the client was sent before the end, and up to which second. */
  #given: HeardFile | undefined;

  /** @param payers the members of the chain in their order, as the bill sees them */
  constructor(members: readonly ChainMember[], payers: readonly FileMember[], reserved: ReservedFile) {
    this.#members = members;
    this.#payers = payers;
    this.#reserved = reserved;
  }

  /** Whether any model of the chain costs anything. */
  get isPaid(): boolean {
    return !this.#payers.every(isFree);
  }

  /** The client was sent what a model heard up to this second. */
  gave(member: ChainMember, endSeconds: number): void {
    this.#given = { member: this.#payerOf(member), seconds: Math.max(this.#given?.seconds ?? 0, endSeconds) };
  }

  /** Charges all that was heard. `isUntaken`: the client does not have it. */
  async settle({ member, seconds, claimedSeconds }: HeardAudio, isUntaken: boolean): Promise<Charge> {
    const payer = this.#payerOf(member);
    const costMicroUsd = await this.#reserved.settle({ member: payer, seconds, claimedSeconds, isUntaken });
    return { costMicroUsd, own: payer.own, channels: payer.channels };
  }

  /** Charges what the client was sent. False where that is nothing. */
  async settleGiven(): Promise<boolean> {
    if (this.#given === undefined) return false;
    await this.#reserved.settle(this.#given);
    return true;
  }

  /** Charges nothing. `isTriedAgain`: under the same id. */
  release(isTriedAgain: boolean): Promise<void> {
    return this.#reserved.release(isTriedAgain);
  }

  #payerOf(member: ChainMember): FileMember {
    return this.#payers[this.#members.indexOf(member)] as FileMember;
  }
}
