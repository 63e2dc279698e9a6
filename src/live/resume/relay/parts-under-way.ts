// Parts of large messages on their way to other nodes, of all clients of this one: nodes have a window of 8 MiB for everything that
// they say, and what does not fit into it is lost. An organisation whose sessions take nothing leaves room for others.
import { FairQuota } from '../../../runtime/limits/fair-quota.ts';
import { PART_BYTES } from './relay-words.ts';

const UNDER_WAY_BYTES_MAX = 4 * 1024 * 1024;

export interface PartsSender {
  readonly organisationId: string;
  /** There may be room. */
  goOn(): void;
}

export class PartsUnderWay {
  readonly #quota = new FairQuota(UNDER_WAY_BYTES_MAX);
  /** By organisation, in the order in which they wait. */
  readonly #waiting = new Map<string, Set<PartsSender>>();

  /** Bytes that are under way. */
  get bytes(): number {
    return this.#quota.used;
  }

  /** Whether so many bytes more may be under way; else the sender hears when there may be room. */
  take(bytes: number, sender: PartsSender): boolean {
    const { organisationId } = sender;
    if (this.#quota.take(organisationId, bytes) === undefined) return true;
    const waiting = this.#waiting.get(organisationId);
    if (waiting === undefined) this.#waiting.set(organisationId, new Set([sender]));
    else waiting.add(sender);
    return false;
  }

  giveBack(bytes: number, { organisationId }: PartsSender): void {
    this.#quota.giveBack(organisationId, bytes);
    for (const [waitingId, senders] of [...this.#waiting]) this.#wake(waitingId, senders);
  }

  /** It has nothing more to send. */
  leave(sender: PartsSender): void {
    const senders = this.#waiting.get(sender.organisationId);
    senders?.delete(sender);
    if (senders?.size === 0) this.#waiting.delete(sender.organisationId);
  }

  #wake(organisationId: string, senders: Set<PartsSender>): void {
    for (const sender of senders) {
      // Its next part may not fit: it keeps its turn.
      if (this.#quota.shortage(organisationId, PART_BYTES) !== undefined) return;
      this.leave(sender);
      sender.goOn();
    }
  }
}
