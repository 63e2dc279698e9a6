// The form of a transcription on its way in: how much of it there may be, what of it is waited for or refused before all of it is
// there, and the upload that it is. Its audio may be at an address: then it is fetched, and read as an upload is.
import type { Readable } from 'node:stream';
import { type AliasedKey, aliasOf, chainNamed } from '../../accounts/auth/aliases.ts';
import type { ApiKey } from '../../accounts/keys/calls.ts';
import type { AudioSource } from '../../api/audio-source.ts';
import { AUTO } from '../../api/choice.ts';
import { ApiError, apiError } from '../../api/errors.ts';
import type { RequestLimits } from '../../api/request-limits.ts';
import type { TranscriptionRequest } from '../../api/transcriptions.ts';
import { readJson } from '../../http/json-body.ts';
import { type Form, type FormLimits, readForm } from '../../http/multipart/form.ts';
import type { Field } from '../../http/multipart/form-fields.ts';
import { SpoolBudget } from '../../http/multipart/spool-file.ts';
import type { ServerRequest } from '../../http/server.ts';
import type { ChainDependencies } from '../../live/failover/chain.ts';
import type { Quota } from '../../runtime/limits/quota.ts';
import type { LimitedSignal } from '../../runtime/timeouts.ts';
import { type JsonObject, objectIn } from '../../vendors/kit/json.ts';
import { AudioElsewhere, requireNoAddress } from '../remote/audio-elsewhere.ts';
import { fetchForm } from '../remote/fetched-form.ts';
import type { RemoteAudio } from '../remote/remote-audio.ts';
import { needsWholeFile, type ReadUpload, type Upload } from '../upload.ts';
import { ADDRESS, fieldsOfJson, joinedFields, LIST_NAMES, readFields, refuseOtherAddresses } from './form.ts';

export interface UploadDependencies extends Pick<ChainDependencies, 'providers' | 'prices'> {
  /** Bytes of all uploads of the node that are on disk together. */
  spoolQuota: Quota;
  /** Bytes that their forms hold in memory. */
  formMemory: Quota;
  /** Fetches audio that is at an address. */
  remoteAudio: Pick<RemoteAudio, 'check' | 'open'>;
  /** Fields that may be one, in the place of a file; `audio_url` when absent. */
  addressFields?: readonly string[];
  /** Of clients of another vendor: what their fields are called here; the same when absent. Throws an ApiError. */
  fieldsOf?(fields: readonly Field[], key: AliasedKey): readonly Field[];
  /** Fields of the endpoint that are read elsewhere; they are only listed among those that are known. */
  otherFields?: readonly string[];
  /** Those of their fields that may come more than once. */
  listNames?: readonly string[];
  /** Of their other fields that come more than once the last counts. */
  takesRepeated?: boolean;
  settings: {
    fileBytesMax: number;
    memoryBytesMax: number;
    timeoutMs: number;
    spoolDirectory: string;
  };
}

/**
 * Client libraries send each member of a list as a field: hundreds of keywords, and voices of up to four speakers as data URLs. Ten
 * seconds in stereo, 24 bits at 48 kHz, have 3.7 MiB so.
 */
const FIELDS_MAX = 1_000;
const FIELD_BYTES_MAX = 4_194_304;
const FIELDS_BYTES_MAX = 4 * FIELD_BYTES_MAX;
/** Boundaries, headers of parts and fields, beside the file. */
const AROUND_FILE_BYTES = FIELDS_BYTES_MAX + 1_048_576;

/** Of a JSON object that has the address of the audio in it. */
const JSON_BYTES_MAX = 262_144;

/** Whose uploads share the disk with those of others. */
type Uploader = AliasedKey & Pick<ApiKey, 'organisationId'>;

/** A form as its client sent it: by this it is known again. */
export interface SentForm {
  fields: readonly Field[];
  /** Of a file that came with it. */
  contentType: string | undefined;
}

export interface FormUpload extends Upload {
  readonly sent: SentForm;
}

/** What the fields of a form ask for, with the chain that its model stands for. Throws an ApiError naming the field at fault. */
export const requestOf = (
  fields: readonly Field[],
  { providers, fieldsOf, otherFields }: Pick<UploadDependencies, 'providers' | 'fieldsOf' | 'otherFields'>,
  key: AliasedKey,
): TranscriptionRequest => {
  const named = fieldsOf?.(fields, key) ?? fields;
  return chainNamed(key, readFields(joinedFields(named, providers, key), otherFields));
};

/**
 * Reads the form of a request as a job asks for it.
 *
 * @param onFile hears the bytes of the file, or the address in their place
 * @param limits of its client token
 */
export function readUpload(
  request: ServerRequest,
  dependencies: UploadDependencies,
  key: Uploader,
  onFile?: (chunk: Uint8Array) => void,
  limits?: RequestLimits,
): ReadUpload<FormUpload> {
  return async (limit, admit) => {
    const limitsFor = (body: { destroy(error: Error): unknown }): FormLimits => ({
      ...formLimits(dependencies, key),
      mustKeep: (fields, contentType, head) => {
        // What is refused is not read to its end.
        admitEarly(fields, admit, dependencies, key).catch((error: Error) => {
          if (!mayBeMended(error, fields)) body.destroy(error);
        });
        return mustKeep(fields, { contentType, head }, dependencies, key, limits);
      },
    });
    try {
      const form = await readSent(request, limit, dependencies, (body) => ({
        ...limitsFor(body),
        ...(onFile === undefined ? {} : { onFile }),
      }));
      return opened(form, dependencies, key, ({ fields, file: { contentType } }) => ({ fields, contentType }));
    } catch (error) {
      if (!(error instanceof AudioElsewhere)) throw error;
      onFile?.(printOf(error.source));
      await admit(requestOf(error.fields, dependencies, key));
      const form = await fetchForm(error, limit, dependencies.remoteAudio, key.organisationId, limitsFor);
      return opened(form, dependencies, key, () => ({ fields: error.fields, contentType: undefined }));
    }
  };
}

function opened(...[form, ...more]: Parameters<typeof uploadOf>): FormUpload {
  try {
    return uploadOf(form, ...more);
  } catch (error) {
    form.dispose();
    throw error;
  }
}

/** What stands for a file in the print of a request that has an address. */
export const printOf = ({ url, param }: AudioSource): Uint8Array => Buffer.from(`${param} ${url}`);

const LIMITS: readonly string[] = ['max_cost', 'max_seconds'];

function mustKeep(
  fields: readonly Field[],
  file: Parameters<typeof needsWholeFile>[1],
  dependencies: UploadDependencies,
  key: AliasedKey,
  limits: RequestLimits | undefined,
): boolean {
  const asked = dependencies.fieldsOf?.(fields, key) ?? fields;
  const { model: named = '' } = Object.fromEntries(asked);
  const [{ model }, ...fallbacks] = aliasOf(key, named) ?? [{ model: named }];
  const hasFallbacks =
    model === AUTO ||
    fallbacks.length > 0 ||
    asked.some(([name, value]) => /^fallbacks(?:\[|$)/.test(name) && value !== '');
  const hasLimits = limits !== undefined || asked.some(([name, value]) => LIMITS.includes(name) && value !== '');
  return needsWholeFile({ model, hasFallbacks, hasLimits }, file, dependencies);
}

/** Reads what a client sent that asked before: a file is only listened to, and nothing is fetched. */
export async function readWithoutFile(
  request: ServerRequest,
  limit: LimitedSignal,
  dependencies: UploadDependencies,
  key: Uploader,
  onFile: (chunk: Uint8Array) => void,
): Promise<SentForm> {
  const limits = { ...formLimits(dependencies, key), onFile, isFileDropped: true };
  try {
    const { fields, file, dispose } = await readSent(request, limit, dependencies, () => limits);
    dispose();
    return { fields, contentType: file.contentType };
  } catch (error) {
    if (!(error instanceof AudioElsewhere)) throw error;
    onFile(printOf(error.source));
    return { fields: error.fields, contentType: undefined };
  }
}

/** The form of a request. Rejects with AudioElsewhere where it has an address and no file, as a JSON object always does. */
async function readSent(
  request: ServerRequest,
  limit: LimitedSignal,
  dependencies: UploadDependencies,
  limitsFor: (body: Readable) => FormLimits,
): Promise<Form> {
  const { addressFields } = dependencies;
  const withoutFile = (fields: readonly Field[]) => {
    requireNoAddress(fields, addressFields ?? [ADDRESS]);
    if (addressFields === undefined) refuseOtherAddresses(fields);
  };
  const contentType = request.headers.get('content-type');
  if (/^application\/json\b/i.test(contentType ?? '')) {
    const body = objectIn(await readJson(request, JSON_BYTES_MAX));
    if (addressFields === undefined) requireOneAddress(body);
    withoutFile(fieldsOfJson(body));
    throw apiError('missing_file', NO_ADDRESS, { param: ADDRESS });
  }
  const body = bodyOf(request, limit, dependencies);
  return readForm(body, contentType, { ...limitsFor(body), withoutFile });
}

function requireOneAddress({ file, [ADDRESS]: address }: JsonObject): void {
  if (file !== undefined) throw apiError('invalid_request', FILE_IN_JSON, { param: 'file' });
  if (address == null || typeof address === 'string') return;
  throw apiError('invalid_request', ONE_ADDRESS, { param: ADDRESS });
}

const FILE_IN_JSON = `A JSON object cannot have a \`file\`. Send the address of the audio in it, as \`${ADDRESS}\`, or the file in a form, as \`multipart/form-data\`.`;
const ONE_ADDRESS = `\`${ADDRESS}\` is one address, as a string. Send a request for each file.`;
const NO_ADDRESS = `The body has to be a JSON object with \`${ADDRESS}\`, and has none. Send the address of the audio in it, or send the audio in a form, as \`multipart/form-data\`.`;

/**
 * Reads a form of the gateway's own whose file is kept: in the spool, whatever its size. Rejects with AudioElsewhere where it has an
 * address and no file.
 */
export function readSentToKeep(
  request: ServerRequest,
  limit: LimitedSignal,
  dependencies: UploadDependencies,
  owner: Pick<Uploader, 'organisationId'>,
  spoolBudget: SpoolBudget,
  more: Pick<FormLimits, 'keptAs' | 'onFile'>,
): Promise<Form> {
  const kept = { memoryBytesMax: 0, mustKeep: () => true };
  const limits = { ...formLimits(dependencies, owner, spoolBudget), ...kept, ...more };
  return readSent(request, limit, dependencies, () => limits);
}

/** Reads a form of another vendor's client whose file is kept: in the spool, whatever its size, and as a part of this name. */
export function readToKeep(
  request: ServerRequest,
  limit: LimitedSignal,
  dependencies: UploadDependencies,
  owner: Pick<Uploader, 'organisationId'>,
  spoolBudget: SpoolBudget,
  { part: fileField, withoutFile }: { part: string } & Pick<FormLimits, 'withoutFile'>,
): Promise<Form> {
  const kept = { memoryBytesMax: 0, mustKeep: () => true, fileField, ...(withoutFile && { withoutFile }) };
  const limits = { ...formLimits(dependencies, owner, spoolBudget), ...kept, takesRepeated: true };
  return readForm(bodyOf(request, limit, dependencies), request.headers.get('content-type'), limits);
}

/** Fetches a file that is kept, in the same way. Rejects with an ApiError, or with the reason of the signal. */
export function fetchToKeep(
  source: AudioSource,
  fields: readonly Field[],
  limit: LimitedSignal,
  dependencies: UploadDependencies,
  { organisationId }: Pick<Uploader, 'organisationId'>,
  spoolBudget: SpoolBudget,
): Promise<Form> {
  const kept = { memoryBytesMax: 0, mustKeep: () => true, takesRepeated: true };
  const limits = { ...formLimits(dependencies, { organisationId }, spoolBudget), ...kept };
  return fetchForm({ source, fields }, limit, dependencies.remoteAudio, organisationId, () => limits);
}

const formLimits = (
  { settings, listNames = [], takesRepeated = false, spoolQuota, formMemory }: UploadDependencies,
  { organisationId }: Pick<Uploader, 'organisationId'>,
  spoolBudget = new SpoolBudget(spoolQuota, organisationId),
): FormLimits => ({
  fileBytesMax: settings.fileBytesMax,
  fieldBytesMax: FIELD_BYTES_MAX,
  fieldsBytesMax: FIELDS_BYTES_MAX,
  fieldsMax: FIELDS_MAX,
  memoryBytesMax: settings.memoryBytesMax,
  listNames: [...LIST_NAMES, ...listNames],
  takesRepeated,
  spoolDir: settings.spoolDirectory,
  spoolBudget,
  memoryQuota: formMemory,
  organisationId,
});

/** The body, which fails with the ApiError `request_timeout` when its time is over. */
function bodyOf(request: ServerRequest, limit: LimitedSignal, { settings }: UploadDependencies): Readable {
  const body = request.body(settings.fileBytesMax + AROUND_FILE_BYTES);
  const late = () => {
    if (!limit.isTimedOut) return;
    const message = `The form did not arrive within ${settings.timeoutMs / 1000} s. Send less, or over a faster connection.`;
    body.destroy(apiError('request_timeout', message, { param: 'file' }));
  };
  limit.signal.addEventListener('abort', late);
  return body;
}

/** Checks a large file by the fields in front of it, so that nobody uploads one that will be refused. */
async function admitEarly(
  fields: readonly Field[],
  admit: Parameters<ReadUpload>[1],
  dependencies: UploadDependencies,
  key: AliasedKey,
): Promise<void> {
  if (fields.some(([name]) => name === 'model')) await admit(requestOf(fields, dependencies, key));
}

/** Whether a field behind the file may make good what is wrong with those in front of it. */
function mayBeMended(error: Error, fields: readonly Field[]): boolean {
  const param = error instanceof ApiError ? error.extras.param : undefined;
  const [field] = param?.split(/[.[]/) ?? [];
  return field !== undefined && !fields.some(([name]) => name === field);
}

function uploadOf(
  form: Form,
  dependencies: UploadDependencies,
  key: AliasedKey,
  sentAs: (form: Form) => SentForm,
): FormUpload {
  const upload: FormUpload = {
    sent: sentAs(form),
    request: requestOf(form.fields, dependencies, key),
    file: form.file,
    whole: form.whole.then((whole) => (whole === form ? upload : uploadOf(whole, dependencies, key, sentAs))),
    leaveFile: () => void (form.file.size === undefined && form.file.read().destroy()),
    dispose: () => form.dispose(),
  };
  upload.whole.catch(() => {});
  return upload;
}
