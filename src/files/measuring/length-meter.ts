// How much audio kept files hold, in threads beside the one that serves: what is in a file is the client's, and may be much work.
// Organisations have their turns, and each has a bound. What the length is good for is decided by whoever asks.
import type { Clock } from '../../../machines/clock.ts';
import { refuse } from '../../api/errors.ts';
import type { MeasuredAudio } from '../../audio/scan.ts';
import { FairQuota } from '../../runtime/limits/fair-quota.ts';
import { Lane, type MeasuredFile } from './lane.ts';

export type { MeasuredFile };

/** An organisation has its files in one of them. */
const THREADS = 2;
/** A gigabyte is counted in less. */
const WORK_MS = 10_000;
/** Files that are measured or wait for it, and what one organisation may have of them. */
const FILES_MAX = 1_024;
const ORGANISATION_SHARE = 1 / 4;

export interface LengthMeterOptions {
  clock: Clock;
  /** Hears when a thread failed; the file that it had is not measured, and the others are begun anew. */
  onFault?: (error: unknown) => void;
  /** Hears of the name of an overflow. */
  onOverflow?: (name: string) => void;
  /** Work on one file, after which nobody can tell how long it is. */
  workMs?: number;
}

export class LengthMeter {
  readonly #options: LengthMeterOptions;
  readonly #lanes: readonly Lane[];
  readonly #quota = new FairQuota(FILES_MAX, ORGANISATION_SHARE);

  constructor(options: LengthMeterOptions) {
    this.#options = options;
    const { clock, workMs = WORK_MS, onFault = () => {} } = options;
    this.#lanes = Array.from({ length: THREADS }, () => new Lane({ clock, workMs, onFault }));
  }

  /** Files that are measured, or wait for it. */
  get waiting(): number {
    return this.#quota.used;
  }

  /**
   * How much audio the file holds at most; undefined where nobody can tell, where it cannot be read, or takes too long.
   * Rejects with the Refusal `overloaded` when too many files wait, since what is not measured would be held for dearly.
   */
  async measure(file: MeasuredFile, organisationId: string): Promise<MeasuredAudio | undefined> {
    const lane = this.#laneOf(organisationId);
    const shortage = this.#quota.take(organisationId);
    if (shortage !== undefined) {
      this.#options.onOverflow?.('measured_files');
      throw refuse(
        'overloaded',
        `${shortage === 'share' ? 'As many files of your organisation wait to be measured as one organisation may have waiting' : 'This node has no place for another file that waits to be measured'}. Send this one again in a moment.`,
        { retryAfterSeconds: 1 },
      );
    }
    try {
      return await lane.measure(file, organisationId);
    } finally {
      this.#quota.giveBack(organisationId);
    }
  }

  /** Nobody can tell of what is still waiting. Resolves when the threads are gone. */
  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  /** Where it has files already, or the one with the fewest organisations. */
  #laneOf(organisationId: string): Lane {
    const own = this.#lanes.find((lane) => lane.filesOf(organisationId) > 0);
    if (own !== undefined) return own;
    return this.#lanes.reduce((least, lane) => (lane.organisations < least.organisations ? lane : least));
  }
}
