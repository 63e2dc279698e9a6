// One form from its first byte to the answer: read, checked, paid for and transcribed. Whether it is done at all, or was done
// before under the same idempotency key, is decided by the route.

import type { Readable } from 'node:stream';
import type { Utterance } from '../../../machines/events.ts';
import { Refusal, refuse } from '../../api/errors.ts';
import { isSlug, providerOf } from '../../api/slug.ts';
import type { TranscriptionRequest } from '../../api/transcriptions.ts';
import type { KeyLimits } from '../../auth/limits.ts';
import { type Caller, requireModels } from '../../auth/permissions.ts';
import type { PriceList } from '../../billing/price-list.ts';
import type { FileDesk, ReservedFile } from '../../ledger/files.ts';
import { type LimitedSignal, limitedSignal } from '../../runtime/limited-signal.ts';
import type { Breakers } from '../../session/breakers.ts';
import type { ChainDependencies, ChainMember } from '../../session/chain.ts';
import { pricedMembers } from '../../session/priced.ts';
import { type TranscriptionOutcome, transcribe } from '../../session/transcription.ts';
import type { HttpBatchDependencies } from '../../upstream/http-batch.ts';
import type { UpstreamHost } from '../../upstream/live.ts';
import type { LengthMeter } from '../audio-length.ts';
import type { DoorRequest, WholeReply } from '../door.ts';
import { type Field, type Form, type FormLimits, readForm } from '../multipart.ts';
import type { SpoolBudget } from '../spool-file.ts';
import { answerOf } from './transcriptions-answer.ts';
import { chainOf, unmapped } from './transcriptions-chain.ts';
import { rawRate, readFields, readLate } from './transcriptions-form.ts';
import { leftOut, refusedStrictly, shortcomings, strictly } from './transcriptions-limits.ts';
import { joinedFields } from './transcriptions-members.ts';
import {
  asLongAsSaid,
  costsByLength,
  isLengthHidden,
  longestOf,
  requireTold,
  secondsToReserve,
} from './transcriptions-money.ts';
import type { AnswerStream } from './transcriptions-stream.ts';

export interface JobDependencies extends ChainDependencies {
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
  desk: Pick<FileDesk, 'reserve'>;
  /** All uploads of the node that are on disk together. */
  spoolBudget: SpoolBudget;
  settings: {
    fileBytesMax: number;
    memoryBytesMax: number;
    timeoutMs: number;
    spoolDirectory: string;
  };
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

/** Client libraries send each member of a list as a field: hundreds of keywords, and voices of speakers as data URLs. */
const FIELDS_MAX = 1_000;
const FIELD_BYTES_MAX = 1_048_576;
const FIELDS_BYTES_MAX = 4_194_304;
/** Boundaries, headers of parts and fields, beside the file. */
const AROUND_FILE_BYTES = FIELDS_BYTES_MAX + 1_048_576;

/** Reads the form of a request. */
export function formOf(
  request: DoorRequest,
  { settings, spoolBudget }: Pick<JobDependencies, 'settings' | 'spoolBudget'>,
  more: Pick<FormLimits, 'mustKeep' | 'onFile' | 'isFileDropped'>,
  limit: LimitedSignal,
): Promise<Form> {
  const { fileBytesMax, memoryBytesMax, spoolDirectory } = settings;
  const body = inTime(request.body(fileBytesMax + AROUND_FILE_BYTES), limit, settings.timeoutMs);
  return readForm(body, request.headers.get('content-type'), {
    fileBytesMax,
    fieldBytesMax: FIELD_BYTES_MAX,
    fieldsBytesMax: FIELDS_BYTES_MAX,
    fieldsMax: FIELDS_MAX,
    memoryBytesMax,
    spoolDir: spoolDirectory,
    spoolBudget,
    ...more,
  });
}

/** The body, which fails with the Refusal `request_timeout` when its time is over. */
function inTime(body: Readable, limit: LimitedSignal, timeoutMs: number): Readable {
  const late = () => {
    if (!limit.isTimedOut) return;
    const message = `The form did not arrive within ${timeoutMs / 1000} s. Send less, or over a faster connection.`;
    body.destroy(refuse('request_timeout', message, { param: 'file' }));
  };
  limit.signal.addEventListener('abort', late);
  return body;
}

export class FileJob {
  readonly #dependencies: JobDependencies;
  readonly #options: JobOptions;
  #isSettling = false;
  /** What was said before the end, and up to which second. */
  #told: { model: string; own: boolean; seconds: number } | undefined;

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
    const { request, caller, outlivesClient } = this.#options;
    // Held until the work is over, whether the client is there or not.
    const release = await limits.takeFile(caller.key);
    const limit = limitedSignal(http.clock, settings.timeoutMs, outlivesClient ? undefined : request.signal);
    try {
      return await this.#within(limit);
    } finally {
      release();
      limit.release();
    }
  }

  async #within(limit: LimitedSignal) {
    const { settings } = this.#dependencies;
    const { request, onFile } = this.#options;
    const form = await formOf(
      request,
      this.#dependencies,
      {
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

  async #answer(form: Form, signal: AbortSignal): Promise<WholeReply> {
    const { caller, requestId, chargeId, stream } = this.#options;
    const { desk, prices, lengths } = this.#dependencies;
    const { organisationId, keyId } = caller;
    const fields = requestOf(form, this.#dependencies);
    const { members, warnings } = await chainOf(fields, caller, this.#dependencies);
    const slugs = members.map(({ slug }) => slug);
    requireModels(caller, slugs);
    const priced = pricedMembers(members, 'batch', prices);
    const { seconds, measured, isGuess } = await secondsToReserve(
      form.file,
      priced,
      longestOf(members),
      lengths,
      organisationId,
    );
    if (isGuess) requireTold(members);
    const model = slugs[0] as string;
    const again = chargeId !== requestId;
    const reserved = await desk.reserve({
      id: chargeId,
      organisationId,
      keyId,
      model,
      members: priced,
      seconds,
      again,
    });
    const notHonoured = (by: ChainMember) => [...warnings, ...by.degradations, ...unmapped(fields, by)];
    const heard = (utterance: Utterance, by: ChainMember) => {
      this.#told = { model: by.slug, own: by.own, seconds: Math.max(this.#told?.seconds ?? 0, utterance.end) };
      stream.heard(utterance, fields, () => [...notHonoured(by), ...leftOut(fields)]);
    };
    const { outcome, asked } = await this.#transcribe(form, fields, members, measured, signal, reserved, heard);
    const { member } = outcome;
    this.#isSettling = true;
    const used = { model: member.slug, own: member.own, seconds: outcome.seconds };
    const costMicroUsd = await reserved.settle(used);
    const said = [...notHonoured(member), ...leftOut(asked), ...outcome.warnings, ...shortcomings(asked, outcome)];
    return answerOf(asked, outcome, said, requestId, { costMicroUsd, own: member.own });
  }

  /**
   * Ends what was reserved when nothing comes of it: nobody is charged for what he was not given. Who was given a part of it, and
   * left before the end, is charged for that part.
   */
  async #transcribe(
    form: Form,
    request: TranscriptionRequest,
    chain: readonly ChainMember[],
    measured: number | undefined,
    signal: AbortSignal,
    reserved: ReservedFile,
    onUtterance: (utterance: Utterance, member: ChainMember) => void,
  ): Promise<{ outcome: TranscriptionOutcome; asked: TranscriptionRequest }> {
    const { requestId: jobId, caller, stream } = this.#options;
    const { organisationId } = caller;
    try {
      const file = fileOf(form, measured);
      const whole = form.rest.then((rest) => withLate(request, rest));
      whole.then(() => stream.formIsWhole()).catch(() => {});
      const told = request.stream ? { onUtterance } : {};
      const job = { jobId, organisationId, request, chain, file, signal, ...told };
      const outcome = await transcribe(this.#dependencies, job);
      const asked = await whole;
      const refused = refusedStrictly(asked, shortcomings(asked, outcome));
      if (asked.strict && refused !== undefined) throw strictly(refused);
      return { outcome, asked };
    } catch (error) {
      const hasLeft = this.#options.request.signal.aborted && stream.isBegun;
      if (hasLeft && this.#told !== undefined) await reserved.settle(this.#told);
      else await reserved.release();
      throw error;
    }
  }
}

/**
 * Whether the whole file is needed before the first model is asked: more than one may, the model wants its length, or what it
 * costs goes by a length that only the whole file tells.
 */
function mustKeep(
  fields: readonly Field[],
  contentType: string | undefined,
  head: Uint8Array,
  { providers, prices }: Pick<JobDependencies, 'providers' | 'prices'>,
): boolean {
  const { model = '' } = Object.fromEntries(fields);
  if (fields.some(([name, value]) => /^fallbacks(?:\[|$)/.test(name) && value !== '')) return true;
  const provider = isSlug(model) ? providers.get(providerOf(model)) : undefined;
  const price = provider === undefined ? undefined : prices.priceOf(model, 'batch');
  if (price !== undefined && costsByLength([{ own: false, price }]) && isLengthHidden(contentType, head)) return true;
  const batch = provider?.batch;
  // Headerless samples become a WAV file, whose header says how long it is.
  return batch?.kind === 'http' && (batch.needsLength || rawRate(contentType) !== undefined);
}

/** What was asked for. While the file is still arriving the format may come behind it: words are then asked for to be safe. */
function requestOf(form: Form, { providers }: Pick<JobDependencies, 'providers'>): TranscriptionRequest {
  const fields = readFields(joinedFields(form.fields, providers));
  const isFormatOpen = form.file.size === undefined && !form.fields.some(([name]) => name === 'response_format');
  return isFormatOpen ? { ...fields, wordTimestamps: true } : fields;
}

/** What was asked for, with what came behind the file. Throws a Refusal for what is not honoured, with `strict`. */
function withLate(fields: TranscriptionRequest, rest: readonly Field[]): TranscriptionRequest {
  const asked = { ...fields, ...readLate(rest) };
  const [first] = leftOut(asked);
  if (asked.strict && first !== undefined) throw strictly(first);
  return asked;
}

function fileOf({ file }: Form, measured: number | undefined) {
  const { size, head, pieces } = file;
  const read = () => file.read() as AsyncIterable<Uint8Array>;
  return {
    bytes: size,
    pieces,
    rawSampleRate: rawRate(file.contentType),
    ...(measured === undefined ? {} : { seconds: measured }),
    read: () => (size === undefined ? asLongAsSaid(read(), head) : read()),
  };
}
