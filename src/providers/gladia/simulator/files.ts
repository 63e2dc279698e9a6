// The simulated jobs for files: uploaded in a form, made a job, worked on at once, and kept until they are removed.
import { Type } from '@sinclair/typebox';
import { jsonOf, objectIn } from '../../kit/json.ts';
import { faultIn, formOf, members } from '../../kit/simulator/checks.ts';
import { textOf } from '../../kit/simulator/words.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { type Account, invalid } from './account.ts';
import { utteranceOf } from './utterances.ts';

type Job = Record<string, unknown>;

const flag = Type.Boolean();
const Asked = members(
  { audio_url: Type.String({ minLength: 1 }) },
  {
    model: Type.String({ pattern: '^solaria-(1|3|fusion)$' }),
    language_config: members({}, { languages: Type.Array(Type.String()), code_switching: flag }),
    ...{ diarization: flag, custom_vocabulary: flag, custom_spelling: flag, pii_redaction: flag },
    ...{ punctuation_enhanced: flag, sentences: flag },
    diarization_config: Type.Object({}, { additionalProperties: Type.Integer({ minimum: 1 }) }),
    custom_vocabulary_config: Type.Object({ vocabulary: Type.Array(Type.Unknown()) }),
    custom_spelling_config: Type.Object({ spelling_dictionary: Type.Object({}, { additionalProperties: true }) }),
    pii_redaction_config: Type.Object({}, { additionalProperties: true }),
  },
);

export async function upload(
  request: SimulatedRequest,
  tools: SimulatorTools,
  account: Account,
): Promise<SimulatedAnswer> {
  const file = (await formOf(request))?.get('audio');
  if (!(file instanceof File)) return invalid({ member: 'audio', message: 'is required' });
  const id = `upload-${tools.newId()}`;
  account.uploads.set(id, new Uint8Array(await file.arrayBuffer()));
  const audio_metadata = { id, filename: file.name, extension: 'wav', size: file.size, number_of_channels: 1 };
  return { status: 200, body: { audio_url: `${request.url.origin}/file/${id}`, audio_metadata } };
}

export function create({ body }: SimulatedRequest, tools: SimulatorTools, account: Account): SimulatedAnswer {
  const asked = objectIn(jsonOf(new TextDecoder().decode(body)));
  const fault = faultIn(Asked, asked);
  if (fault !== undefined) return invalid(fault);
  const id = `job-${tools.newId()}`;
  const job: Job = { id, request_id: 'G-1', version: 2, kind: 'pre-recorded', status: 'queued', request_params: asked };
  account.jobs.set(id, job);
  void work(job, account.uploads.get(String(asked.audio_url).split('/').at(-1) as string), tools);
  return { status: 201, body: { id, result_url: `https://api.gladia.io/v2/pre-recorded/${id}` } };
}

/** Changes the job in place, as polls see it. */
async function work(job: Job, bytes: Uint8Array | undefined, tools: SimulatorTools): Promise<void> {
  const { diarization, language_config } = objectIn(job.request_params);
  const [language] = (objectIn(language_config).languages ?? []) as string[];
  job.status = 'processing';
  const heard = bytes === undefined ? undefined : await tools.transcribe(bytes, language).catch(() => undefined);
  if (heard === undefined) {
    Object.assign(job, { status: 'error', error_code: 422 });
    return;
  }
  const utterances = heard.turns.map((turn, at) => utteranceOf(turn, diarization === true ? { speaker: at % 2 } : {}));
  Object.assign(job, {
    status: 'done',
    result: {
      metadata: { audio_duration: heard.seconds, number_of_distinct_channels: 1, billing_time: heard.seconds },
      transcription: { full_transcript: textOf(heard.turns), languages: ['en'], utterances },
    },
  });
}
