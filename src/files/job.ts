// One file from its upload to what was heard in it: admitted, measured, paid for and transcribed. How it comes in, whether it was
// done before under the same idempotency key, and how it is answered, is decided by routes.
import { isDeepStrictEqual } from 'node:util';
import type { Utterance } from '../../machines/events.ts';
import { type DecidedTags, type Tagged, tagsFor } from '../accounts/auth/tags.ts';
import { ApiError, apiError } from '../api/errors.ts';
import { classesOf, isServiceClass, type RedactionClass } from '../api/redaction.ts';
import { type RequestLimits, tightest } from '../api/request-limits.ts';
import type { DataResidencyRule } from '../api/residency-rule.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import { rawRate, type UploadedFile } from '../http/multipart/form.ts';
import {
  type Ask,
  type ChainDependencies,
  type Degradation,
  keepReady,
  type ResolvedCandidate,
  resolveChain,
} from '../live/failover/chain.ts';
import { chosenChain, isChosen, preferUnused, type Wishes } from '../live/failover/choice/choose.ts';
import { chainByPrice } from '../live/failover/choice/price-rule.ts';
import { redactedWith, requireFinders } from '../live/failover/finders.ts';
import { isFree, type MeterCandidate } from '../money/ledger/meter.ts';
import { pricedMembers } from '../money/ledger/meter-contract.ts';
import { chainWithin } from '../money/ledger/price-bounds.ts';
import { type LimitedSignal, limitedSignal } from '../runtime/timeouts.ts';
import type { AskedRule } from '../vendors/kit/place-rules.ts';
import { likelyKindOf } from './file-source.ts';
import { mayBeCut } from './in-parts.ts';
import type { PartsProgress } from './long/long-files.ts';
import type { LengthMeter } from './measuring/length-meter.ts';
import type { AbandonedResponses } from './money/abandoned-responses.ts';
import {
  type Charge,
  costsByLength,
  FileBill,
  type FileReservations,
  fileMembers,
  longestOf,
} from './money/file-reservations.ts';
import { type FileLength, lengthOf, withFileWarnings } from './money/length.ts';
import { requireCost, requireLength } from './money/request-limits.ts';
import { withoutQuotes } from './redaction.ts';
import type { FileAnalysis } from './service-redaction.ts';
import { leftOut, refusedStrictly, shortcomings, strictly, timesMissing } from './shortcomings.ts';
import { changedOutcome, changedStream, type DemandedTexts, withReplacements } from './text-changes.ts';
import {
  type FileObserver,
  type ObservedFile,
  type TranscriptionDependencies,
  type TranscriptionOutcome,
  transcribe,
} from './transcribe.ts';
import { audioFileOf, type EarlyAnswer, onceWhole, type ReadUpload, type Upload } from './upload.ts';

export interface JobDependencies extends ChainDependencies, TranscriptionDependencies {
  /** Measures files that are here whole. */
  lengths: Pick<LengthMeter, 'measure'>;
  /** Holds and charges. */
  reservations: Pick<FileReservations, 'reserve' | 'requireCredit'>;
  /** Answers that the client did not wait for: some a day are not charged. */
  untaken: AbandonedResponses;
  settings: { timeoutMs: number; hearEmptyAgain: 'on' | 'off' };
  /** Who is told of a file's moments as they come. */
  observeFile?(file: ObservedFile): FileObserver;
  /** Hears of each match of a redacted file, and of texts that could not be read. */
  onRedacted?(kind: RedactionClass | 'failed'): void;
}

export interface JobOptions extends DemandedTexts {
  requestId: string;
  organisationId: string;
  keyId: string;
  /** Whether the ledger grants every hold of the caller. */
  isUnlimited: boolean;
  /** Whether there are ceilings on spend, under which own provider keys count. */
  hasCeilings?: boolean | undefined;
  /** Throws an ApiError where the key does not allow one of these models. */
  requireModels(slugs: readonly string[]): void;
  /** Whether the key allows the model. */
  allowsModel(slug: string): boolean;
  /** Throws an ApiError where the client token does not allow the languages of the request. */
  requireLanguages?(request: TranscriptionRequest): void;
  /** The model behind all that are named, where the key allows it. */
  lastResort?: string | undefined;
  /** What the request, its key and its organisation ask for of where audio goes. */
  rulesOf?(asked: DataResidencyRule | undefined): readonly AskedRule[];
  /** What a client token lets each request spend. */
  limits?: RequestLimits | undefined;
  /** Whose tags those of the request are added to. */
  tagged?: Tagged;
  /** In the place of both. */
  decidedTags?: DecidedTags | undefined;
  /** Id of the charge. */
  chargeId: string;
  /** Rejects where another node is at work on it by now, which charges it. */
  beforeCharge?: (() => Promise<void>) | undefined;
  /** Aborts when the client is gone. */
  client: AbortSignal;
  /** Once the upload is whole, the work continues whether the client is there or not. */
  outlivesClient: boolean;
  early: EarlyAnswer;
  observer?: FileObserver | undefined;
  /** Hears how many parts of a file are done that is transcribed in parts. */
  onProgress?(progress: PartsProgress): void;
}

/** What an answer is made of. */
export interface FileResult {
  /** What was requested, in front of the file and behind it. */
  request: TranscriptionRequest;
  outcome: TranscriptionOutcome;
  /** The models that could have transcribed it. */
  members?: readonly ResolvedCandidate[];
  /** What of the request was not done, or was done in another way. */
  warnings: readonly Degradation[];
  charge: Charge;
}

/** What of a request is known before its file is. */
interface Admitted {
  members: ResolvedCandidate[];
  warnings: Degradation[];
  priced: MeterCandidate[];
  tags: string | undefined;
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

  /** Throws an ApiError, or what ended the request. The upload that is given back is whole, and disposed of. */
  async run<Own extends Upload>(read: ReadUpload<Own>): Promise<{ result: FileResult; upload: Own }> {
    const { settings, http } = this.#dependencies;
    const { client } = this.#options;
    const limit = limitedSignal(http.clock, settings.timeoutMs);
    const leave = () => {
      if (!this.#goesOn()) limit.abort(client.reason);
    };
    if (client.aborted) leave();
    else client.addEventListener('abort', leave, { once: true });
    let code: string | undefined;
    try {
      return await this.#within(limit, read);
    } catch (error) {
      code = error instanceof ApiError ? error.code : 'given_up';
      throw error;
    } finally {
      this.#options.observer?.ended(code);
      limit.release();
      client.removeEventListener('abort', leave);
    }
  }

  /** Whether the work continues although the client is gone. Some times a day it is given up and free; else it is finished and charged. */
  #goesOn(): boolean {
    const { organisationId, outlivesClient, early } = this.#options;
    if (outlivesClient) return true;
    // A streamed answer ends here: the client is charged for what it was sent.
    if (!this.#isAtWork || early.isBegun) return false;
    this.#isUntaken = !this.#dependencies.untaken.isFree(organisationId);
    return this.#isUntaken;
  }

  async #within<Own extends Upload>(limit: LimitedSignal, read: ReadUpload<Own>) {
    // More fields may come after a large file: with `strict` it is judged by all of them, later.
    const upload = await read(limit, (request) => this.admit({ ...request, strict: false }));
    try {
      return await this.#byAllFields(upload, limit.signal);
    } catch (error) {
      if (!limit.isTimedOut || error instanceof ApiError) throw error;
      // Rejects with `request_timeout` where it was the client that was too slow.
      await upload.whole;
      throw apiError(
        'upstream_timeout',
        `The file was not transcribed within ${this.#dependencies.settings.timeoutMs / 1000} s. Split it, or send it again later.`,
      );
    } finally {
      upload.dispose();
    }
  }

  /** Begins while a file is still arriving, and again where fields behind it ask for something else, whatever came of it until then. */
  async #byAllFields<Own extends Upload>(
    upload: Own,
    signal: AbortSignal,
  ): Promise<{ result: FileResult; upload: Own }> {
    try {
      return { result: await this.#work(upload, signal), upload };
    } catch (error) {
      const whole = this.#isSettling ? undefined : await asksForMore(upload, signal);
      if (whole === undefined) throw error;
      this.#isAtWork = false;
      return { result: await this.#work(whole, signal), upload: whole };
    }
  }

  /** Checks models, permissions and credit. Throws an ApiError. @param bytes of the file, where they are known */
  async admit(request: TranscriptionRequest, bytes?: number): Promise<Admitted> {
    const { organisationId, keyId, requireModels, requireLanguages, rulesOf, lastResort, allowsModel } = this.#options;
    const { hasCeilings, tagged, decidedTags } = this.#options;
    const tags = decidedTags === undefined ? tagged && tagsFor(tagged, request.tags) : decidedTags.text;
    const { reservations } = this.#dependencies;
    requireLanguages?.(request);
    const rules = rulesOf?.(request.rule) ?? [];
    const by = { organisationId, allowsModel, hasCeilings, bytes };
    const { members, warnings } = await chainOf(request, by, this.#dependencies, rules, lastResort);
    requireModels(members.map(({ slug }) => slug));
    requireFinders(this.#dependencies, this.#demanded(request), members);
    const priced = pricedMembers(members);
    if (!priced.every(isFree)) await reservations.requireCredit({ organisationId, keyId });
    return { members, warnings, priced, tags };
  }

  async #work(upload: Upload, signal: AbortSignal): Promise<FileResult> {
    const work = await this.#begin(upload);
    const outcome = await this.#transcribe(work, signal);
    this.#isSettling = true;
    const charge = await work.bill.settle(outcome, this.#isUntaken);
    const { request } = upload;
    const warnings = [
      ...notHonoured(work, ...membersOf(outcome)),
      ...leftOut(request),
      ...withFileWarnings(work.length, ofAnswer(request, outcome.warnings)),
      ...shortcomings(this.#shape(request), outcome),
    ];
    return { request, outcome, members: work.members, warnings, charge };
  }

  /** Admits and measures the file, and holds what the dearest model would cost. */
  async #begin(upload: Upload): Promise<Work> {
    const { requestId, chargeId, organisationId, keyId, isUnlimited, observer } = this.#options;
    const { reservations, lengths, longFiles } = this.#dependencies;
    const admitted = await this.admit(upload.request, upload.file.size);
    const { members, priced, tags } = admitted;
    if (tags !== undefined) observer?.tagged(tags);
    const { slug: model } = members[0] as ResolvedCandidate;
    const limits = tightest(upload.request.limits, this.#options.limits);
    const isMeasured = costsByLength(priced) || limits?.maxSeconds !== undefined;
    const length = await lengthOf(upload.file, isMeasured, lengths, organisationId);
    if (limits !== undefined) requireLength(limits, length);
    const isCut = longFiles !== undefined && isLong(upload, length, members, priced);
    if (!isCut) length.secondsMax = Math.min(length.secondsMax, longestOf(members));
    const payers = fileMembers(members, priced, length);
    if (limits !== undefined) requireCost(limits, payers, length.secondsMax, isCut);
    const reserved = await reservations.reserve({
      id: chargeId,
      organisationId,
      keyId,
      model,
      isUnlimited,
      members: payers,
      secondsMax: length.secondsMax,
      isShared: isCut,
      again: chargeId !== requestId,
      tags,
    });
    const { bounds } = reserved;
    if (bounds === undefined) return { ...admitted, upload, length, bill: new FileBill(members, payers, reserved) };
    const { chain, warnings: left } = chainWithin(members, payers, bounds);
    const bill = new FileBill(chain, chainWithin(payers, payers, bounds).chain, reserved);
    const warnings = [...admitted.warnings, ...left];
    return { members: chain, warnings, priced: pricedMembers(chain), tags, upload, length, bill };
  }

  /**
   * Asks the models. When that fails the reservation is ended here: nobody is charged for an answer that was not given. Two
   * exceptions: a client that leaves in the middle of a streamed answer is charged for what it was sent, and one that cannot be
   * given a finished answer by its own doing (`strict` refuses it, or the upload breaks off) is charged for all of it when that
   * happens too often.
   */
  async #transcribe(work: Work, signal: AbortSignal): Promise<TranscriptionOutcome> {
    const { client, early } = this.#options;
    const { upload, bill } = work;
    const { request } = upload;
    let outcome: TranscriptionOutcome | undefined;
    // Not the last resort: a file can wait a second for it, and most need none.
    const named = work.members.filter(({ isLastResort }) => isLastResort !== true);
    const release = keepReady(named, this.#dependencies.engines);
    try {
      outcome = await this.#ask(work, signal);
      if (this.#options.beforeCharge !== undefined) await this.#options.beforeCharge();
      if ((await upload.whole) !== upload) throw new Error('The model answered before all was asked for.');
      const refused = refusedStrictly(request, shortcomings(this.#shape(request), outcome));
      if (request.strict && refused !== undefined) throw strictly(refused);
      return outcome;
    } catch (error) {
      const isLeft = client.aborted && early.isBegun && !this.#isUntaken;
      if (isLeft && (await bill.settleGiven())) throw error;
      if (outcome !== undefined && error instanceof ApiError && bill.isPaid && this.#isCharged()) {
        await bill.settle(outcome, true);
      } else {
        const more = await asksForMore(upload, signal).catch(() => undefined);
        await bill.release(more !== undefined);
      }
      throw error;
    } finally {
      release();
    }
  }

  async #ask(work: Work, signal: AbortSignal): Promise<TranscriptionOutcome> {
    const { requestId: jobId, organisationId, early, observer } = this.#options;
    const onProgress = this.#options.onProgress?.bind(this.#options);
    const { lengths } = this.#dependencies;
    const { upload, length, bill, members } = work;
    const { request } = upload;
    const shape = this.#shape(request);
    const isChanged = shape.redacted !== undefined || shape.replacements !== undefined;
    const { onRedacted } = this.#dependencies;
    const tell = (utterance: Utterance, by: ResolvedCandidate) => {
      bill.gave(by, utterance.end);
      early.heard(utterance, request, () => [...notHonoured(work, by), ...leftOut(request)]);
    };
    const analysis = this.#analysisOf(request, shape.redacted, signal);
    const onUtterance = onceWhole(upload, isChanged ? changedStream(shape, tell) : tell);
    const measure = (file: UploadedFile) => lengthOf(file, true, lengths, organisationId);
    const file = audioFileOf(upload, length, measure, () => {
      this.#isAtWork = bill.isPaid;
    });
    this.#isAtWork = bill.isPaid && upload.file.size !== undefined;
    const heard = transcribe(this.#dependencies, {
      jobId,
      organisationId,
      request,
      chain: members,
      file,
      signal,
      observer,
      hearEmptyAgain: this.#dependencies.settings.hearEmptyAgain === 'on',
      // What a service reads is sent when all of it is there.
      ...(request.stream && analysis === undefined ? { onUtterance } : {}),
      ...(onProgress === undefined ? {} : { onProgress }),
    });
    const outcome = await (shape.redacted === undefined ? heard : withoutQuotes(heard, shape.redacted));
    return isChanged ? changedOutcome(outcome, shape, { analysis, onRedacted }) : outcome;
  }

  /** The request, with what its key and organisation demand, and what `pii` includes here. */
  #shape(request: TranscriptionRequest): TranscriptionRequest {
    const redacted = redactedWith(this.#dependencies, this.#demanded(request), request.common);
    const shape = redacted === request.redacted ? request : { ...request, redacted };
    return withReplacements(shape, this.#options.replacements);
  }

  #demanded({ redacted: asked }: TranscriptionRequest): readonly RedactionClass[] | undefined {
    const { redacted } = this.#options;
    return redacted === undefined ? asked : classesOf(undefined, asked, redacted);
  }

  /** Undefined where nothing of a service is redacted. */
  #analysisOf(
    { language }: TranscriptionRequest,
    all: readonly RedactionClass[] | undefined,
    signal: AbortSignal,
  ): FileAnalysis | undefined {
    const { analyzer, http } = this.#dependencies;
    const classes = all?.filter(isServiceClass) ?? [];
    if (analyzer === undefined || classes.length === 0) return undefined;
    const { organisationId } = this.#options;
    return { analyzer, clock: http.clock, organisationId, language, classes, signal };
  }

  /** Whether a finished answer is charged that the client cannot be given by its own doing. */
  #isCharged(): boolean {
    return this.#isUntaken || !this.#dependencies.untaken.isFree(this.#options.organisationId);
  }
}

/** The whole upload, where fields came after its file. Rejects where it turns out to be broken. */
async function asksForMore<Own extends Upload>(upload: Own, signal: AbortSignal): Promise<Own | undefined> {
  upload.leaveFile();
  if (signal.aborted) return undefined;
  const whole = await upload.whole;
  requireSameRule(upload.request.rule, whole.request.rule);
  return whole === upload ? undefined : whole;
}

/** A model may have heard some of the file by then, at an endpoint that the rule would not have allowed. */
function requireSameRule(before: DataResidencyRule | undefined, whole: DataResidencyRule | undefined): void {
  if (isDeepStrictEqual(before, whole)) return;
  throw apiError(
    'invalid_request',
    '`region` and `retention` come in front of the file: behind it, some of the audio may have been sent elsewhere already.',
    { param: 'region' },
  );
}

/** Whether the file may be cut. One that costs nothing by its length was not measured: it may be as long as it can be. */
function isLong(
  { file: { head, contentType, size: bytes } }: Pick<Upload, 'file'>,
  { seconds, secondsMax }: FileLength,
  members: readonly ResolvedCandidate[],
  priced: readonly MeterCandidate[],
): boolean {
  const kind = likelyKindOf(head, rawRate(contentType));
  return mayBeCut(kind, members, { bytes, seconds: seconds ?? (costsByLength(priced) ? undefined : secondsMax) });
}

/** What says something of the answer: how words were placed is nothing to an answer without them. */
const ofAnswer = ({ wordTimestamps }: TranscriptionRequest, warnings: readonly Degradation[]): Degradation[] =>
  warnings.filter(({ code }) => wordTimestamps || code !== 'words_estimated');

/** What of the request these models do not do. */
const notHonoured = ({ warnings }: Pick<Work, 'warnings'>, ...by: ResolvedCandidate[]): Degradation[] => [
  ...warnings,
  ...by.flatMap(({ degradations }) => degradations),
];

/** The models that have transcribed a file, or parts of it. */
const membersOf = ({ member, shares }: TranscriptionOutcome): ResolvedCandidate[] =>
  shares?.map((share) => share.member) ?? [member];

/** Whose request it is, and how large its file. */
interface ChainBy extends Pick<JobOptions, 'organisationId' | 'allowsModel' | 'hasCeilings'> {
  bytes?: number | undefined;
}

function wishesOf(fields: TranscriptionRequest, { allowsModel, bytes = 0 }: ChainBy): Wishes {
  return {
    preference: fields.prefer,
    allows: allowsModel,
    prefersInterims: false,
    // A file that is too large goes in parts.
    unmetBy: (member) =>
      timesMissing(fields, member).length + (bytes > (member.card.audio.max_file_bytes ?? bytes) ? 1 : 0),
    isFit: (member) => !fields.strict || timesMissing(fields, member).length === 0,
  };
}

/** The chain of a request, checked. Throws an ApiError naming the field at fault. */
export async function chainOf(
  fields: TranscriptionRequest,
  by: ChainBy,
  dependencies: ChainDependencies,
  rules: readonly AskedRule[] = [],
  lastResort?: string,
): Promise<{ members: ResolvedCandidate[]; warnings: Degradation[] }> {
  const ask: Ask = {
    mode: 'batch',
    organisationId: by.organisationId,
    model: fields.model,
    providerParams: fields.providerParams,
    credential: fields.credential,
    fallbacks: fields.fallbacks,
    aliased: fields.aliased,
    // The file's own rate is known only when its header was read; the job converts to what the model takes.
    sampleRate: 16_000,
    language: fields.language,
    diarization: fields.diarization,
    common: fields.common,
    interimResults: false,
    strict: fields.strict,
    lastResort,
    rules,
    hasCeilings: by.hasCeilings,
  };
  const isByGateway = isChosen(fields);
  const resolved = await (isByGateway
    ? chosenChain(ask, wishesOf(fields, by), dependencies)
    : resolveChain(ask, dependencies));
  const chain = chainByPrice(resolved, fields.price);
  if (fields.prefer !== undefined && !isByGateway) chain.warnings.push(preferUnused);
  if (!fields.strict) return chain;
  const members = chain.members.filter((each) => each.isLastResort !== true || timesMissing(fields, each).length === 0);
  const [fault] = [...members.flatMap((member) => timesMissing(fields, member)), ...leftOut(fields)];
  if (fault !== undefined) throw strictly(fault);
  return { ...chain, members };
}
