// The form of a transcription on its way in: what of it is waited for, kept or refused before all of it is there, and what of it
// the models are handed.
import type { Readable } from 'node:stream';
import { refuse } from '../../../api/errors.ts';
import { isSlug, providerOf } from '../../../api/slug.ts';
import type { TranscriptionRequest } from '../../../api/transcriptions.ts';
import type { PriceList } from '../../../billing/price-list.ts';
import type { ChainDependencies } from '../../../failover/chain.ts';
import type { LimitedSignal } from '../../../runtime/limited-signal.ts';
import type { AudioFile } from '../../../transcription/file-source.ts';
import type { DoorRequest } from '../../door.ts';
import { type Field, type Form, type FormLimits, readForm } from '../../multipart/form.ts';
import type { SpoolBudget } from '../../multipart/spool-file.ts';
import { rawRate, readFields, readLate } from './form.ts';
import { leftOut, strictly } from './limits.ts';
import { joinedFields } from './members.ts';
import { asLongAsSaid, costsByLength, type FileLength, isLengthHidden } from './money.ts';

export interface UploadDependencies {
  /** All uploads of the node that are on disk together. */
  spoolBudget: SpoolBudget;
  settings: {
    fileBytesMax: number;
    memoryBytesMax: number;
    timeoutMs: number;
    spoolDirectory: string;
  };
}

/** Client libraries send each member of a list as a field: hundreds of keywords, and voices of speakers as data URLs. */
const FIELDS_MAX = 1_000;
const FIELD_BYTES_MAX = 1_048_576;
const FIELDS_BYTES_MAX = 4_194_304;
/** Boundaries, headers of parts and fields, beside the file. */
const AROUND_FILE_BYTES = FIELDS_BYTES_MAX + 1_048_576;

/** Says whether a large file may come, by the fields in front of it: rejects with a Refusal. */
export type Admit = (fields: readonly Field[]) => Promise<unknown>;

/** Reads the form of a request. */
export function formOf(
  request: DoorRequest,
  { settings, spoolBudget }: UploadDependencies,
  { admit, mustKeep, ...more }: Pick<FormLimits, 'mustKeep' | 'onFile' | 'isFileDropped'> & { admit?: Admit },
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
    mustKeep: (fields, ...file) => {
      // What is refused is not read to its end.
      admit?.(fields).catch((error: Error) => body.destroy(error));
      return mustKeep?.(fields, ...file) ?? false;
    },
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

/**
 * Whether the whole file is needed before the first model is asked: more than one may, the model wants its length, or what it
 * costs goes by a length that only the whole file tells.
 */
export function mustKeep(
  fields: readonly Field[],
  contentType: string | undefined,
  head: Uint8Array,
  { providers, prices }: Pick<ChainDependencies, 'providers'> & { prices: PriceList },
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
export function requestOf(form: Form, { providers }: Pick<ChainDependencies, 'providers'>): TranscriptionRequest {
  const fields = readFields(joinedFields(form.fields, providers));
  const isFormatOpen = form.file.size === undefined && !form.fields.some(([name]) => name === 'response_format');
  return isFormatOpen ? { ...fields, wordTimestamps: true } : fields;
}

/** What was asked for, with what came behind the file. Throws a Refusal for what is not honoured, with `strict`. */
export function withLate(fields: TranscriptionRequest, rest: readonly Field[]): TranscriptionRequest {
  const asked = { ...fields, ...readLate(rest) };
  const [first] = leftOut(asked);
  if (asked.strict && first !== undefined) throw strictly(first);
  return asked;
}

/** @param onEnd the last byte of it was read */
export function fileOf({ file }: Form, { seconds, secondsMax }: FileLength, onEnd: () => void): AudioFile {
  const { size, head, pieces } = file;
  const arriving = async function* () {
    yield* asLongAsSaid(file.read() as AsyncIterable<Uint8Array>, head);
    onEnd();
  };
  return {
    bytes: size,
    pieces,
    rawSampleRate: rawRate(file.contentType),
    secondsMax,
    ...(seconds === undefined ? {} : { seconds }),
    read: () => (size === undefined ? arriving() : (file.read() as AsyncIterable<Uint8Array>)),
  };
}
