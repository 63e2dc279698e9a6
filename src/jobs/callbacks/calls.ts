// Addresses that a client named for the end of one job, in the database: which are due, and what came of each attempt. The addresses
// themselves are sealed in the request of the job, and go with it.
import { notes, type Operation, type Operations, reads, writes } from '../../store/operation.ts';
import type { Owner } from '../owner.ts';

/** One whose time has come. */
export interface DueCallback {
  number: number;
  organisationId: string;
  /** What is sent may be large. */
  isLarge: boolean;
}

export interface CallbackToSend extends Owner {
  /** Of the job. */
  id: string;
  /** Among those of the job. */
  position: number;
  /** Since the job was over. */
  attempts: number;
  /** When the job was over. One that was lost may be done later: then its attempts begin again. */
  endedAtMs: number;
}

export interface AttemptedCallback {
  number: number;
  /** Of `CallbackToSend`. */
  endedAtMs: number;
  /** Null without an answer. */
  status: number | null;
  /** Null where nothing more is sent. */
  retryAfterMs: number | null;
  /** The job goes with the last one of its callbacks: its client cannot ask for it. */
  isForgotten: boolean;
}

export interface CallbackCalls {
  /**
   * @param after id of an organisation: due ones of those that follow, then of the first ones
   * @param perOrganisationMax of one organisation
   * @returns `isUsed`: there are jobs with callbacks
   */
  readDueCallbacks(after: string, perOrganisationMax: number, max: number): { isUsed: boolean; due: DueCallback[] };
  /** One that is due: no other process gets it for the time of the lease. Undefined when it is not due any more. */
  takeCallback(number: number, leaseMs: number): CallbackToSend | undefined;
  /** Nothing, where the callback is gone or its job was done meanwhile. */
  recordCallback(attempted: AttemptedCallback): void;
}

const since6 = <Each extends Operation>(operation: Each) => ({ ...operation, since: 6 });

export const CALLBACK_OPERATIONS = {
  readDueCallbacks: reads(),
  takeCallback: since6(notes()),
  recordCallback: since6(writes()),
} as const satisfies Operations<CallbackCalls>;
