// A desk for files that holds and charges nothing, and remembers what it was asked to.
import { refuse } from '../../src/api/errors.ts';
import { costMicroUsd } from '../../src/billing/price.ts';
import type { FileReservation, ReservedFile } from '../../src/ledger/files.ts';

export interface Charge {
  id: string;
  organisationId: string;
  model: string;
  own: boolean;
  seconds: number;
  costMicroUsd: bigint;
}

export class RecordingDesk {
  readonly reserved: FileReservation[] = [];
  /** By the id of the reservation: like the ledger's, the first one stays. */
  readonly charges = new Map<string, Charge>();
  released = 0;
  /** Reservations that were neither settled nor released. */
  open = 0;
  /** Nobody has credit while this is set. */
  isBroke = false;

  async reserve(file: FileReservation): Promise<ReservedFile> {
    if (this.isBroke) throw refuse('insufficient_credit', 'No credit is left.');
    this.reserved.push(file);
    this.open++;
    const { id, organisationId, members } = file;
    return {
      settle: async ({ model, own, seconds }) => {
        this.open--;
        const { price } = members.find((member) => member.slug === model && member.own === own)!;
        const charge = {
          id,
          organisationId,
          model,
          own,
          seconds,
          costMicroUsd: costMicroUsd(price, seconds * 1000, own),
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
