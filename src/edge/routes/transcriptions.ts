// `POST /v1/audio/transcriptions`: reads the form, has the whole chain checked, hands the file over and answers. Which model
// answers is decided in src/session, what fields and answers look like beside this file.
import { refuse } from '../../api/errors.ts';
import { isSlug, providerOf } from '../../api/slug.ts';
import type { TranscriptionRequest } from '../../api/transcriptions.ts';
import type { Breakers } from '../../session/breakers.ts';
import { type ChainDependencies, type ChainMember, type Degradation, resolveChain } from '../../session/chain.ts';
import { transcribe } from '../../session/transcription.ts';
import { takesField } from '../../session/transcription-http.ts';
import type { HttpBatchDependencies } from '../../upstream/http-batch.ts';
import type { UpstreamHost } from '../../upstream/live.ts';
import type { Reply } from '../door.ts';
import { type Field, type Form, readForm } from '../multipart.ts';
import { refuseContentEncoding } from '../multipart-parts.ts';
import type { RouteContext } from '../router.ts';
import type { SpoolBudget } from '../spool-file.ts';
import { answerOf } from './transcriptions-answer.ts';
import { rawRate, readFields, readLate } from './transcriptions-form.ts';

export interface TranscriptionsDependencies extends ChainDependencies {
  upstream: UpstreamHost;
  breakers: Breakers;
  /** Connections to providers over HTTP. */
  http: HttpBatchDependencies;
  /** All uploads of the node that are on disk together. */
  spoolBudget: SpoolBudget;
  settings: {
    fileBytesMax: number;
    memoryBytesMax: number;
    timeoutMs: number;
    spoolDirectory: string;
  };
}

export const postTranscriptions = (dependencies: TranscriptionsDependencies) => {
  const { settings, http, spoolBudget } = dependencies;
  return async ({ request, requestId }: RouteContext): Promise<Reply> => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(settings.timeoutMs)]);
    refuseContentEncoding(request.headers);
    const form = await readForm(request.body(settings.fileBytesMax + 1_048_576), request.headers.get('content-type'), {
      fileBytesMax: settings.fileBytesMax,
      fieldBytesMax: 65_536,
      fieldsMax: 64,
      memoryBytesMax: settings.memoryBytesMax,
      spoolDir: settings.spoolDirectory,
      spoolBudget,
      mustKeep: (fields, contentType) => mustKeep(fields, contentType, dependencies),
    });
    try {
      const fields = requestOf(form);
      const { members, warnings } = await chainOf(fields, dependencies);
      const outcome = await transcribe(
        { ...dependencies, http },
        { jobId: requestId, request: fields, chain: members, file: fileOf(form), signal },
      );
      const { member } = outcome;
      const late = readLate(await form.rest);
      const said = [...warnings, ...member.degradations, ...unmapped(fields, member), ...outcome.warnings];
      return answerOf({ ...fields, ...late }, outcome, said, requestId);
    } catch (error) {
      if (signal.aborted && !request.signal.aborted) {
        throw refuse(
          'upstream_timeout',
          `The file was not transcribed within ${settings.timeoutMs / 1000} s. Split it, or send it again later.`,
        );
      }
      throw error;
    } finally {
      form.dispose();
    }
  };
};

/** Whether the whole file is needed before the first model is asked: more than one may, or the model wants its length. */
function mustKeep(
  fields: readonly Field[],
  contentType: string | undefined,
  { providers }: Pick<ChainDependencies, 'providers'>,
): boolean {
  const { model = '', fallbacks = '' } = Object.fromEntries(fields);
  if (fallbacks !== '') return true;
  const batch = isSlug(model) ? providers.get(providerOf(model))?.batch : undefined;
  // Headerless samples become a WAV file, whose header says how long it is.
  return batch?.kind === 'http' && (batch.needsLength || isRaw(contentType));
}

const isRaw = (contentType: string | undefined): boolean => /^audio\/l16\b/i.test(contentType ?? '');

/** What was asked for. While the file is still arriving the format may come behind it: words are then asked for to be safe. */
function requestOf(form: Form): TranscriptionRequest {
  const fields = readFields(form.fields);
  const isFormatOpen = form.file.size === undefined && !form.fields.some(([name]) => name === 'response_format');
  return isFormatOpen ? { ...fields, wordTimestamps: true } : fields;
}

const fileOf = ({ file }: Form) => ({
  bytes: file.size,
  rawSampleRate: rawRate(file.contentType),
  read: () => file.read() as AsyncIterable<Uint8Array>,
});

async function chainOf(
  fields: TranscriptionRequest,
  dependencies: ChainDependencies,
): Promise<{ members: ChainMember[]; warnings: Degradation[] }> {
  const chain = await resolveChain(
    {
      mode: 'batch',
      model: fields.model,
      providerParams: fields.providerParams,
      fallbacks: fields.fallbacks,
      // The file's own rate is known only when its header was read; the job converts to what the model takes.
      sampleRate: 16_000,
      language: fields.language,
      diarization: fields.diarization,
      interimResults: false,
      strict: fields.strict,
    },
    dependencies,
  );
  const first = chain.members.flatMap((member) => unmapped(fields, member))[0];
  if (fields.strict && first !== undefined) {
    throw refuse('unsupported_parameter', `${first.message} Leave it out, choose another model, or drop \`strict\`.`, {
      param: first.param as string,
    });
  }
  return chain;
}

/** What of the form the model does not take. */
function unmapped(fields: TranscriptionRequest, member: ChainMember): Degradation[] {
  const names = [
    ...fields.unmapped,
    ...(fields.prompt && !takesField(member, 'prompt') ? ['prompt'] : []),
    ...(fields.temperature && !takesField(member, 'temperature') ? ['temperature'] : []),
  ];
  return names.map((name) => ({
    code: 'parameter_ignored',
    message: `${member.slug} does not take \`${name}\`.`,
    param: name,
  }));
}
