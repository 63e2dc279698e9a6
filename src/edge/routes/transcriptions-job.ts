// One form from its first byte to the answer: read, checked, paid for and transcribed. Whether it is done at all, or was done
// before under the same idempotency key, is decided by the route.
import { Refusal, refuse } from '../../api/errors.ts';
import { isSlug, providerOf } from '../../api/slug.ts';
import type { TranscriptionRequest } from '../../api/transcriptions.ts';
import { type Caller, requireModels } from '../../auth/permissions.ts';
import type { FileDesk, ReservedFile } from '../../ledger/files.ts';
import type { Breakers } from '../../session/breakers.ts';
import type { ChainDependencies, ChainMember } from '../../session/chain.ts';
import { type TranscriptionOutcome, transcribe } from '../../session/transcription.ts';
import type { LedgerPrice } from '../../store/ledger-calls.ts';
import type { HttpBatchDependencies } from '../../upstream/http-batch.ts';
import type { UpstreamHost } from '../../upstream/live.ts';
import type { LengthMeter } from '../audio-length.ts';
import type { DoorRequest, Reply } from '../door.ts';
import { type Field, type Form, type FormLimits, readForm } from '../multipart.ts';
import type { SpoolBudget } from '../spool-file.ts';
import { answerOf } from './transcriptions-answer.ts';
import { chainOf, unmapped } from './transcriptions-chain.ts';
import { rawRate, readFields, readLate } from './transcriptions-form.ts';
import {
  asLongAsSaid,
  costsByLength,
  isLengthHidden,
  longestOf,
  pricedMembers,
  secondsToReserve,
} from './transcriptions-money.ts';

export interface JobDependencies extends ChainDependencies {
  upstream: UpstreamHost;
  breakers: Breakers;
  /** Connections to providers over HTTP. */
  http: HttpBatchDependencies;
  /** What a model costs for files; undefined where it has no price. */
  priceOf(slug: string): LedgerPrice | undefined;
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
}

/** Boundaries, headers of parts and fields, beside the file. */
const AROUND_FILE_BYTES = 1_048_576;

/** Reads the form of a request. */
export function formOf(
  request: DoorRequest,
  { settings, spoolBudget }: Pick<JobDependencies, 'settings' | 'spoolBudget'>,
  more: Pick<FormLimits, 'mustKeep' | 'onFile' | 'isFileDropped'>,
): Promise<Form> {
  const { fileBytesMax, memoryBytesMax, spoolDirectory } = settings;
  return readForm(request.body(fileBytesMax + AROUND_FILE_BYTES), request.headers.get('content-type'), {
    fileBytesMax,
    fieldBytesMax: 65_536,
    fieldsMax: 64,
    memoryBytesMax,
    spoolDir: spoolDirectory,
    spoolBudget,
    ...more,
  });
}

export class FileJob {
  readonly #dependencies: JobDependencies;
  readonly #options: JobOptions;
  #isSettling = false;

  constructor(dependencies: JobDependencies, options: JobOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
  }

  /** Whether it may have been charged: a failure after that is no reason to do it over. */
  get isSettling(): boolean {
    return this.#isSettling;
  }

  /** The answer, and the form's fields, of which none is missing then. Throws a Refusal, or what ended the request. */
  async run(): Promise<{ reply: Reply; fields: readonly Field[]; contentType: string | undefined }> {
    const { settings } = this.#dependencies;
    const { request, outlivesClient, onFile } = this.#options;
    const timeout = AbortSignal.timeout(settings.timeoutMs);
    const signal = outlivesClient ? timeout : AbortSignal.any([request.signal, timeout]);
    const form = await formOf(request, this.#dependencies, {
      mustKeep: (fields, contentType, head) => mustKeep(fields, contentType, head, this.#dependencies),
      ...(onFile === undefined ? {} : { onFile }),
    });
    try {
      const reply = await this.#answer(form, signal);
      return { reply, fields: [...form.fields, ...(await form.rest)], contentType: form.file.contentType };
    } catch (error) {
      if (!timeout.aborted || error instanceof Refusal) throw error;
      throw refuse(
        'upstream_timeout',
        `The file was not transcribed within ${settings.timeoutMs / 1000} s. Split it, or send it again later.`,
      );
    } finally {
      form.dispose();
    }
  }

  async #answer(form: Form, signal: AbortSignal): Promise<Reply> {
    const { caller, requestId, chargeId } = this.#options;
    const { desk, priceOf, lengths } = this.#dependencies;
    const fields = requestOf(form);
    const { members, warnings } = await chainOf(fields, caller, this.#dependencies);
    const slugs = members.map(({ slug }) => slug);
    requireModels(caller, slugs);
    const priced = pricedMembers(members, priceOf);
    const { seconds, measured } = await secondsToReserve(form.file, priced, longestOf(members), lengths);
    const { organisationId, keyId } = caller;
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
    const { outcome, late } = await this.#transcribe(form, fields, members, measured, signal, reserved);
    const { member } = outcome;
    this.#isSettling = true;
    const used = { model: member.slug, own: member.own, seconds: outcome.seconds };
    const costMicroUsd = await reserved.settle(used);
    const said = [...warnings, ...member.degradations, ...unmapped(fields, member), ...outcome.warnings];
    return answerOf({ ...fields, ...late }, outcome, said, requestId, { costMicroUsd, own: member.own });
  }

  /** Ends what was reserved when nothing comes of it: nobody is charged for what he was not given. */
  async #transcribe(
    form: Form,
    request: TranscriptionRequest,
    chain: readonly ChainMember[],
    measured: number | undefined,
    signal: AbortSignal,
    reserved: ReservedFile,
  ): Promise<{ outcome: TranscriptionOutcome; late: Partial<TranscriptionRequest> }> {
    const { requestId: jobId, caller } = this.#options;
    const { organisationId } = caller;
    try {
      const file = fileOf(form, measured);
      const outcome = await transcribe(this.#dependencies, { jobId, organisationId, request, chain, file, signal });
      return { outcome, late: readLate(await form.rest) };
    } catch (error) {
      await reserved.release();
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
  { providers, priceOf }: Pick<JobDependencies, 'providers' | 'priceOf'>,
): boolean {
  const { model = '', fallbacks = '' } = Object.fromEntries(fields);
  if (fallbacks !== '') return true;
  const provider = isSlug(model) ? providers.get(providerOf(model)) : undefined;
  const price = provider === undefined ? undefined : priceOf(model);
  if (price !== undefined && costsByLength([{ own: false, price }]) && isLengthHidden(contentType, head)) return true;
  const batch = provider?.batch;
  // Headerless samples become a WAV file, whose header says how long it is.
  return batch?.kind === 'http' && (batch.needsLength || rawRate(contentType) !== undefined);
}

/** What was asked for. While the file is still arriving the format may come behind it: words are then asked for to be safe. */
function requestOf(form: Form): TranscriptionRequest {
  const fields = readFields(form.fields);
  const isFormatOpen = form.file.size === undefined && !form.fields.some(([name]) => name === 'response_format');
  return isFormatOpen ? { ...fields, wordTimestamps: true } : fields;
}

function fileOf({ file }: Form, measured: number | undefined) {
  const { size, head } = file;
  const read = () => file.read() as AsyncIterable<Uint8Array>;
  return {
    bytes: size,
    rawSampleRate: rawRate(file.contentType),
    ...(measured === undefined ? {} : { seconds: measured }),
    read: () => (size === undefined ? asLongAsSaid(read(), head) : read()),
  };
}
