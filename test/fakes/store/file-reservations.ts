// Reservations for files that hold and charge nothing, and remember what they were asked to.
import { apiError } from '../../../src/api/errors.ts';
import { costMicroUsd } from '../../../src/config/prices/price.ts';
import type { FileReservationRequest, ReservedFile } from '../../../src/files/money/file-reservations.ts';

export interface Charge {
  id: string;
  organisationId: string;
  model: string;
  own: boolean;
  /** Of one channel. */
  seconds: number;
  channels: number;
  isUntaken: boolean;
  costMicroUsd: bigint;
  /** Of a file that was cut: seconds of each model. */
  shares?: [model: string, seconds: number][];
}

export class RecordingReservations {
  readonly reserved: FileReservationRequest[] = [];
  /** By the id of the reservation: like the ledger's, the first one stays. */
  readonly charges = new Map<string, Charge>();
  released = 0;
  /** Reservations that were neither settled nor released. */
  open = 0;
  /** Nobody has credit while this is set. */
  isBroke = false;

  async requireCredit(): Promise<void> {
    if (this.isBroke) throw apiError('insufficient_credit', 'No credit is left.');
  }

  async reserve(file: FileReservationRequest): Promise<ReservedFile> {
    if (this.isBroke) throw apiError('insufficient_credit', 'No credit is left.');
    this.reserved.push(file);
    this.open++;
    const { id, organisationId, secondsMax } = file;
    return {
      settle: async ({ member, seconds: heard, isUntaken = false, shares }) => {
        this.open--;
        const { slug: model, own, price, channels } = member;
        const seconds = Math.min(heard, secondsMax);
        const charge = {
          id,
          organisationId,
          model,
          own,
          seconds,
          channels,
          isUntaken,
          costMicroUsd: costMicroUsd(price, seconds * 1000 * channels, own),
          ...(shares && { shares: shares.map((share): [string, number] => [share.member.slug, share.seconds]) }),
        };
        if (!this.charges.has(id)) this.charges.set(id, charge);
        return this.charges.get(id)!.costMicroUsd;
      },
      release: async () => {
        this.open--;
        this.released++;
      },
    };
  }

  forget(): void {
    this.reserved.length = 0;
    this.charges.clear();
    this.released = 0;
    this.isBroke = false;
  }
}
