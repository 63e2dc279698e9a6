// One file from its upload to what was heard in it: admitted, measured, paid for and transcribed. How it comes in, whether it was
// done before under the same idempotency key, and how it is answered, is the edge's.
import type { Utterance } from '../../machines/events.ts';
import { Refusal, refuse } from '../api/errors.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import type { PriceList } from '../billing/price-list.ts';
import type { ChainDependencies, ChainMember, Degradation } from '../failover/chain.ts';
import { isFree, type MeterMember } from '../ledger/meter.ts';
import { pricedMembers } from '../ledger/priced.ts';
import { type LimitedSignal, limitedSignal } from '../runtime/limited-signal.ts';
import { chainOf, unmapped } from './chain.ts';
import type { LengthMeter } from './measuring/length-meter.ts';
import { type Charge, FileBill } from './money/file-bill.ts';
import type { FileReservations } from './money/file-reservations.ts';
import { type FileLength, lengthOf } from './money/length.ts';
import { costsByLength, fileMembers, longestOf } from './money/members.ts';
import type { UntakenAnswers } from './money/untaken-answers.ts';
import { leftOut, refusedStrictly, shortcomings, strictly } from './shortcomings.ts';
import { type TranscriptionDependencies, type TranscriptionOutcome, transcribe } from './transcribe.ts';
import { audioFileOf, type ReadUpload, type Upload } from './upload.ts';

export interface JobDependencies extends ChainDependencies, TranscriptionDependencies {
  /** What a model costs for files; undefined where it has no price. */
  prices: PriceList;
  /** Measures files that are here whole. */
  lengths: Pick<LengthMeter, 'measure'>;
  /** Holds and charges. */
  reservations: Pick<FileReservations, 'reserve' | 'requireCredit'>;
  /** Answers that the client did not wait for: some a day are not charged. */
  untaken: UntakenAnswers;
  settings: { timeoutMs: number };
}

/** Hears what may be sent of an answer before all of it is there. */
export interface EarlyAnswer {
  /** An utterance that stays as it is, and what is known by then of things that were not honoured. */
  heard(utterance: Utterance, request: TranscriptionRequest, warnings: () => readonly Degradation[]): void;
  /** The upload is here, and nothing in it will be refused. */
  uploadIsWhole(): void;
  /** Whether something of the answer is on its way to the client. */
  readonly isBegun: boolean;
}

export interface JobOptions {
  requestId: string;
  organisationId: string;
  keyId: string;
  /** Throws a Refusal where the key does not allow one of these models. */
  requireModels(slugs: readonly string[]): void;
  /** Id of the charge. */
  chargeId: string;
  /** Aborts when the client is gone. */
  client: AbortSignal;
  /** Once the upload is whole, the work goes on whether the client is there or not. */
  outlivesClient: boolean;
  early: EarlyAnswer;
}

/** What an answer is made of. */
export interface FileResult {
  /** What was asked for, in front of the file and behind it. */
  request: TranscriptionRequest;
  outcome: TranscriptionOutcome;
  /** What of the request was not done, or was done in another way. */
  warnings: readonly Degradation[];
  charge: Charge;
}

/** What of a request is known before its file is. */
interface Admitted {
  members: ChainMember[];
  warnings: Degradation[];
  priced: MeterMember[];
}

/** What a file is worked on with. */
interface Work extends Admitted {
  upload: Upload;
  length: FileLength;
  bill: FileBill;
}

export class FileJob {
  readonly #dependencies: JobDependencies;
  readonly #options: JobOptions;
  #isSettling = false;
  /** A model may be at work on all of the file, for money. */
  #isAtWork = false;
  /** The client is gone, and is charged for what comes of it. */
  #isUntaken = false;

  constructor(dependencies: JobDependencies, options: JobOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
  }

  /** Whether it may have been charged: a failure after that is no reason to do it over. */
  get isSettling(): boolean {
    return this.#isSettling;
  }

  /** Throws a Refusal, or what ended the request. The upload that is given back is whole, and disposed of. */
  async run<Own extends Upload>(read: ReadUpload<Own>): Promise<{ result: FileResult; upload: Own }> {
    const { settings, http } = this.#dependencies;
    const { client } = this.#options;
    const given = new AbortController();
    const leave = () => {
      if (!this.#goesOn()) given.abort(client.reason);
    };
    if (client.aborted) leave();
    else client.addEventListener('abort', leave, { once: true });
    const limit = limitedSignal(http.clock, settings.timeoutMs, given.signal);
    try {
      return await this.#within(limit, read);
    } finally {
      limit.release();
      client.removeEventListener('abort', leave);
    }
  }

  /** Whether the work goes on although the client is gone. Some times a day it is given up and free; else it is finished and charged. */
  #goesOn(): boolean {
    const { organisationId, outlivesClient, early } = this.#options;
    if (outlivesClient) return true;
    // A streamed answer ends here: the client is charged for what it was sent.
    if (!this.#isAtWork || early.isBegun) return false;
    this.#isUntaken = !this.#dependencies.untaken.isFree(organisationId);
    return this.#isUntaken;
  }

  async #within<Own extends Upload>(limit: LimitedSignal, read: ReadUpload<Own>) {
    // More fields may come behind a large file: with `strict` it is judged by all of them, later.
    const upload = await read(limit, (request) => this.#admit({ ...request, strict: false }));
    try {
      return { result: await this.#work(upload, limit.signal), upload };
    } catch (error) {
      if (!limit.isTimedOut || error instanceof Refusal) throw error;
      // Rejects with `request_timeout` where it was the client that was too slow.
      await upload.arrived;
      throw refuse(
        'upstream_timeout',
        `The file was not transcribed within ${this.#dependencies.settings.timeoutMs / 1000} s. Split it, or send it again later.`,
      );
    } finally {
      upload.dispose();
    }
  }

  /** Checks models, permissions and credit. Throws a Refusal. */
  async #admit(request: TranscriptionRequest): Promise<Admitted> {
    const { organisationId, keyId, requireModels } = this.#options;
    const { reservations, prices } = this.#dependencies;
    const { members, warnings } = await chainOf(request, organisationId, this.#dependencies);
    requireModels(members.map(({ slug }) => slug));
    const priced = pricedMembers(members, 'batch', prices);
    if (!priced.every(isFree)) await reservations.requireCredit({ organisationId, keyId });
    return { members, warnings, priced };
  }

  async #work(upload: Upload, signal: AbortSignal): Promise<FileResult> {
    const work = await this.#begin(upload);
    const { outcome, request } = await this.#transcribe(work, signal);
    this.#isSettling = true;
    const charge = await work.bill.settle(outcome, this.#isUntaken);
    const warnings = [
      ...notHonoured(work, outcome.member),
      ...leftOut(request),
      ...outcome.warnings,
      ...shortcomings(request, outcome),
    ];
    return { request, outcome, warnings, charge };
  }

  /** Admits and measures the file, and holds what the dearest model would cost. */
  async #begin(upload: Upload): Promise<Work> {
    const { requestId, chargeId, organisationId, keyId } = this.#options;
    const { reservations, lengths } = this.#dependencies;
    const admitted = await this.#admit(upload.request);
    const { members, priced } = admitted;
    const length = await lengthOf(upload.file, costsByLength(priced), lengths, organisationId);
    length.secondsMax = Math.min(length.secondsMax, longestOf(members));
    const payers = fileMembers(members, priced, length);
    const reserved = await reservations.reserve({
      id: chargeId,
      organisationId,
      keyId,
      model: (members[0] as ChainMember).slug,
      members: payers,
      secondsMax: length.secondsMax,
      again: chargeId !== requestId,
    });
    return { ...admitted, upload, length, bill: new FileBill(members, payers, reserved) };
  }

  /**
   * Asks the models. When that fails the reservation is ended here: nobody is charged for an answer that was not given. Two
   * exceptions: a client that leaves in the middle of a streamed answer is charged for what it was sent, and one that cannot be
   * given a finished answer by its own doing (its upload broke off behind the file, or `strict` refuses the answer) is charged for
   * all of it when that happens too often.
   */
  async #transcribe(
    work: Work,
    signal: AbortSignal,
  ): Promise<{ outcome: TranscriptionOutcome; request: TranscriptionRequest }> {
    const { client, early } = this.#options;
    const { upload, bill } = work;
    let outcome: TranscriptionOutcome | undefined;
    let isWithheld = false;
    try {
      const whole = withLate(upload);
      whole.then(
        () => early.uploadIsWhole(),
        () => {
          isWithheld = true;
        },
      );
      outcome = await this.#ask(work, signal);
      const request = await whole;
      const refused = refusedStrictly(request, shortcomings(request, outcome));
      isWithheld = request.strict && refused !== undefined;
      if (isWithheld && refused !== undefined) throw strictly(refused);
      return { outcome, request };
    } catch (error) {
      const isLeft = client.aborted && early.isBegun && !this.#isUntaken;
      if (isLeft && (await bill.settleGiven())) throw error;
      if (outcome !== undefined && bill.isPaid && isWithheld && this.#isCharged()) await bill.settle(outcome, true);
      else await bill.release();
      throw error;
    }
  }

  #ask(work: Work, signal: AbortSignal): Promise<TranscriptionOutcome> {
    const { requestId: jobId, organisationId, early } = this.#options;
    const { upload, length, bill, members } = work;
    const { request } = upload;
    const file = audioFileOf(upload.file, length, () => {
      this.#isAtWork = bill.isPaid;
    });
    this.#isAtWork = bill.isPaid && upload.file.size !== undefined;
    const onUtterance = (utterance: Utterance, by: ChainMember) => {
      bill.gave(by, utterance.end);
      early.heard(utterance, request, () => [...notHonoured(work, by), ...leftOut(request)]);
    };
    return transcribe(this.#dependencies, {
      jobId,
      organisationId,
      request,
      chain: members,
      file,
      signal,
      ...(request.stream ? { onUtterance } : {}),
    });
  }

  /** Whether a finished answer is charged that the client cannot be given by its own doing. */
  #isCharged(): boolean {
    return this.#isUntaken || !this.#dependencies.untaken.isFree(this.#options.organisationId);
  }
}

/** What was asked for, with what came behind the file. Throws a Refusal for what is not honoured, with `strict`. */
async function withLate(upload: Upload): Promise<TranscriptionRequest> {
  const request = { ...upload.request, ...(await upload.late()) };
  const [first] = leftOut(request);
  if (request.strict && first !== undefined) throw strictly(first);
  return request;
}

/** What of the request this model does not do. */
const notHonoured = ({ warnings, upload }: Work, by: ChainMember): Degradation[] => [
  ...warnings,
  ...by.degradations,
  ...unmapped(upload.request, by),
];
