// One form from its first byte to the answer: read, checked, paid for and transcribed. Whether it is done at all, or was done
// before under the same idempotency key, is decided by the route.
import type { Utterance } from '../../../../machines/events.ts';
import { Refusal, refuse } from '../../../api/errors.ts';
import type { TranscriptionRequest } from '../../../api/transcriptions.ts';
import type { KeyLimits } from '../../../auth/limits.ts';
import { type Caller, requireModels } from '../../../auth/permissions.ts';
import type { PriceList } from '../../../billing/price-list.ts';
import type { Breakers } from '../../../failover/breakers.ts';
import type { ChainDependencies, ChainMember, Degradation } from '../../../failover/chain.ts';
import { isFree, type MeterMember } from '../../../ledger/meter.ts';
import { pricedMembers } from '../../../ledger/priced.ts';
import { type LimitedSignal, limitedSignal } from '../../../runtime/limited-signal.ts';
import type { LengthMeter } from '../../../transcription/measuring/length-meter.ts';
import type { FileDesk, FileMember, HeardFile, ReservedFile } from '../../../transcription/money/reservations.ts';
import type { UntakenAnswers } from '../../../transcription/money/untaken-answers.ts';
import { type TranscriptionOutcome, transcribe } from '../../../transcription/transcribe.ts';
import type { HttpBatchDependencies } from '../../../upstream/http/batch-codec.ts';
import type { UpstreamHost } from '../../../upstream/upstream-host.ts';
import type { DoorRequest, WholeReply } from '../../door.ts';
import type { Field, Form } from '../../multipart/form.ts';
import { answerOf } from './answer.ts';
import { chainOf, unmapped } from './chain.ts';
import { readFields } from './form.ts';
import { leftOut, refusedStrictly, shortcomings, strictly } from './limits.ts';
import { joinedFields } from './members.ts';
import { costsByLength, type FileLength, fileMembers, lengthOf, longestOf } from './money.ts';
import type { AnswerStream } from './stream.ts';
import { fileOf, formOf, mustKeep, requestOf, type UploadDependencies, withLate } from './upload.ts';

export interface JobDependencies extends ChainDependencies, UploadDependencies {
  /** How many files may be under way. */
  limits: Pick<KeyLimits, 'takeFile'>;
  upstream: UpstreamHost;
  breakers: Breakers;
  /** Connections to providers over HTTP. */
  http: HttpBatchDependencies;
  /** What a model costs for files; undefined where it has no price. */
  prices: PriceList;
  /** Says how long a kept file is. */
  lengths: LengthMeter;
  /** Holds and charges. */
  desk: Pick<FileDesk, 'reserve' | 'requireCredit'>;
  /** Those that nobody waited for, and are not charged. */
  untaken: UntakenAnswers;
}

export interface JobOptions {
  request: DoorRequest;
  requestId: string;
  caller: Caller;
  /** Under which it is charged. */
  chargeId: string;
  /** Hears the bytes of the file. */
  onFile?: (chunk: Uint8Array) => void;
  /** Once the form is whole, the work goes on whether the client is there or not. */
  outlivesClient: boolean;
  /** Hears what may be sent of an answer before all of it is there, if a stream was asked for. */
  stream: AnswerStream;
}

/** What of a request is known before its file is. */
interface Admitted {
  members: ChainMember[];
  warnings: Degradation[];
  priced: MeterMember[];
}

/** What a file is worked on with. */
interface Work {
  fields: TranscriptionRequest;
  members: readonly ChainMember[];
  /** In the same order. */
  payers: readonly FileMember[];
  length: FileLength;
  reserved: ReservedFile;
}

export class FileJob {
  readonly #dependencies: JobDependencies;
  readonly #options: JobOptions;
  #isSettling = false;
  /** A model may be at work on all of the file, for money. */
  #isAtWork = false;
  /** The client is gone, and is charged for what comes of it. */
  #isUntaken = false;
  /** What was said before the end, and up to which second. */
  #told: HeardFile | undefined;

  constructor(dependencies: JobDependencies, options: JobOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
  }

  /** Whether it may have been charged: a failure after that is no reason to do it over. */
  get isSettling(): boolean {
    return this.#isSettling;
  }

  /** The answer, and the form's fields, of which none is missing then. Throws a Refusal, or what ended the request. */
  async run(): Promise<{ reply: WholeReply; fields: readonly Field[]; contentType: string | undefined }> {
    const { settings, http, limits } = this.#dependencies;
    const { request, caller } = this.#options;
    // Held until the work is over, whether the client is there or not.
    const release = await limits.takeFile(caller.key);
    const given = new AbortController();
    const leave = () => {
      if (!this.#goesOn()) given.abort(request.signal.reason);
    };
    if (request.signal.aborted) leave();
    else request.signal.addEventListener('abort', leave, { once: true });
    const limit = limitedSignal(http.clock, settings.timeoutMs, given.signal);
    try {
      return await this.#within(limit);
    } finally {
      release();
      limit.release();
      request.signal.removeEventListener('abort', leave);
    }
  }

  /** The client is gone. So many times a day the work is given up then, and free; else it is done to its end. */
  #goesOn(): boolean {
    const { caller, outlivesClient, stream } = this.#options;
    if (outlivesClient) return true;
    // What he was given of a streamed answer, he is charged for.
    if (!this.#isAtWork || stream.isBegun) return false;
    this.#isUntaken = !this.#dependencies.untaken.isFree(caller.organisationId);
    return this.#isUntaken;
  }

  async #within(limit: LimitedSignal) {
    const { settings } = this.#dependencies;
    const { request, onFile } = this.#options;
    const form = await formOf(
      request,
      this.#dependencies,
      {
        admit: async (fields) => {
          if (fields.some(([name]) => name === 'model')) await this.#admitEarly(fields);
        },
        mustKeep: (fields, contentType, head) => mustKeep(fields, contentType, head, this.#dependencies),
        ...(onFile === undefined ? {} : { onFile }),
      },
      limit,
    );
    try {
      const reply = await this.#answer(form, limit.signal);
      return { reply, fields: [...form.fields, ...(await form.rest)], contentType: form.file.contentType };
    } catch (error) {
      if (!limit.isTimedOut || error instanceof Refusal) throw error;
      // Where the client was too slow, this says so.
      await form.rest;
      throw refuse(
        'upstream_timeout',
        `The file was not transcribed within ${settings.timeoutMs / 1000} s. Split it, or send it again later.`,
      );
    } finally {
      form.dispose();
    }
  }

  /** By the fields in front of a large file, of which more may come: nobody uploads it to be told that he may not. */
  #admitEarly(fields: readonly Field[]): Promise<Admitted> {
    const request = readFields(joinedFields(fields, this.#dependencies.providers));
    return this.#admit({ ...request, strict: false });
  }

  /** Whether the caller may have this done, and has anything to pay for it with. Throws a Refusal. */
  async #admit(fields: TranscriptionRequest): Promise<Admitted> {
    const { caller } = this.#options;
    const { desk, prices } = this.#dependencies;
    const { members, warnings } = await chainOf(fields, caller, this.#dependencies);
    requireModels(
      caller,
      members.map(({ slug }) => slug),
    );
    const priced = pricedMembers(members, 'batch', prices);
    if (!priced.every(isFree)) await desk.requireCredit(caller);
    return { members, warnings, priced };
  }

  async #answer(form: Form, signal: AbortSignal): Promise<WholeReply> {
    const { caller, requestId, chargeId, stream } = this.#options;
    const { desk, lengths } = this.#dependencies;
    const { organisationId, keyId } = caller;
    const fields = requestOf(form, this.#dependencies);
    const { members, warnings, priced } = await this.#admit(fields);
    const length = await lengthOf(form.file, costsByLength(priced), lengths, organisationId);
    length.secondsMax = Math.min(length.secondsMax, longestOf(members));
    const payers = fileMembers(members, priced, length);
    const reserved = await desk.reserve({
      id: chargeId,
      organisationId,
      keyId,
      model: (members[0] as ChainMember).slug,
      members: payers,
      secondsMax: length.secondsMax,
      again: chargeId !== requestId,
    });
    const notHonoured = (by: ChainMember) => [...warnings, ...by.degradations, ...unmapped(fields, by)];
    const work = { fields, members, payers, length, reserved };
    const heard = (utterance: Utterance, by: ChainMember) => {
      const seconds = Math.max(this.#told?.seconds ?? 0, utterance.end);
      this.#told = { member: payerOf(work, by), seconds };
      stream.heard(utterance, fields, () => [...notHonoured(by), ...leftOut(fields)]);
    };
    const { outcome, asked } = await this.#transcribe(form, work, signal, heard);
    const { member } = outcome;
    this.#isSettling = true;
    const used = usedOf(work, outcome);
    const costMicroUsd = await reserved.settle({ ...used, isUntaken: this.#isUntaken });
    const said = [...notHonoured(member), ...leftOut(asked), ...outcome.warnings, ...shortcomings(asked, outcome)];
    const { own, channels } = used.member;
    return answerOf(asked, outcome, said, requestId, { costMicroUsd, own, channels });
  }

  /**
   * Ends what was reserved when nothing comes of it: nobody is charged for what he was not given. Who was given a part of it, and
   * left before the end, is charged for that part; and who cannot be given the answer of a model by his own doing, since his upload
   * was broken behind the file or he is strict, for all of it when that happens too often.
   */
  async #transcribe(
    form: Form,
    work: Work,
    signal: AbortSignal,
    onUtterance: (utterance: Utterance, member: ChainMember) => void,
  ): Promise<{ outcome: TranscriptionOutcome; asked: TranscriptionRequest }> {
    const { requestId: jobId, caller, request, stream } = this.#options;
    const { organisationId } = caller;
    const { fields, members, payers, length, reserved } = work;
    const isPaid = !payers.every(isFree);
    let heard: TranscriptionOutcome | undefined;
    let isWithheld = false;
    try {
      const file = fileOf(form, length, () => {
        this.#isAtWork = isPaid;
      });
      this.#isAtWork = isPaid && form.file.size !== undefined;
      const whole = form.rest.then((rest) => withLate(fields, rest));
      whole.then(
        () => stream.formIsWhole(),
        () => {
          isWithheld = true;
        },
      );
      const told = fields.stream ? { onUtterance } : {};
      const job = { jobId, organisationId, request: fields, chain: members, file, signal, ...told };
      heard = await transcribe(this.#dependencies, job);
      const asked = await whole;
      const refused = refusedStrictly(asked, shortcomings(asked, heard));
      isWithheld = asked.strict && refused !== undefined;
      if (isWithheld && refused !== undefined) throw strictly(refused);
      return { outcome: heard, asked };
    } catch (error) {
      const isLeft = request.signal.aborted && stream.isBegun && this.#told !== undefined;
      if (isLeft && !this.#isUntaken) await reserved.settle(this.#told as HeardFile);
      else if (heard !== undefined && isPaid && isWithheld && this.#isCharged()) {
        await reserved.settle({ ...usedOf(work, heard), isUntaken: true });
      } else await reserved.release();
      throw error;
    }
  }

  /** Of work that a provider has finished, and whose answer the client cannot be given by his own doing. */
  #isCharged(): boolean {
    return this.#isUntaken || !this.#dependencies.untaken.isFree(this.#options.caller.organisationId);
  }
}

const payerOf = ({ members, payers }: Pick<Work, 'members' | 'payers'>, member: ChainMember): FileMember =>
  payers[members.indexOf(member)] as FileMember;

const usedOf = (work: Work, { member, seconds, claimedSeconds }: TranscriptionOutcome): HeardFile => ({
  member: payerOf(work, member),
  seconds,
  claimedSeconds,
});
