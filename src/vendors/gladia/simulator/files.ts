// The simulated jobs for files, which are uploaded in a form.
import { Type } from '@sinclair/typebox';
import { listIn, objectIn } from '../../kit/json.ts';
import { bodyOf, faultIn, fileIn, formOf, members } from '../../kit/simulator/checks.ts';
import type { FileJob } from '../../kit/simulator/jobs.ts';
import { ok } from '../../kit/simulator/routes.ts';
import { textOf } from '../../kit/simulator/words.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { type Account, invalid } from './account.ts';
import { utteranceOf } from './utterances.ts';

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

const STATUS = { working: 'processing', done: 'done', failed: 'error' } as const;

export async function upload(
  request: SimulatedRequest,
  tools: SimulatorTools,
  account: Account,
): Promise<SimulatedAnswer> {
  const file = await fileIn(await formOf(request), 'audio');
  if (file === undefined) return invalid({ member: 'audio', message: 'is required' });
  const id = `upload-${tools.newId()}`;
  account.uploads.set(id, file);
  const audio_metadata = { id, filename: 'audio.wav', extension: 'wav', size: file.length, number_of_channels: 1 };
  return ok({ audio_url: `${request.url.origin}/file/${id}`, audio_metadata });
}

export function create(request: SimulatedRequest, tools: SimulatorTools, account: Account): SimulatedAnswer {
  const asked = bodyOf(request);
  const fault = faultIn(Asked, asked);
  if (fault !== undefined) return invalid(fault);
  const [language] = listIn(objectIn(asked.language_config).languages);
  const file = account.uploads.get(String(asked.audio_url).split('/').at(-1) as string);
  const { id } = account.make(asked, file, language, tools);
  return ok({ id, result_url: `https://api.gladia.io/v2/pre-recorded/${id}` }, 201);
}

export function shown(job: FileJob | undefined, httpStatus = 200): SimulatedAnswer | undefined {
  if (job === undefined) return undefined;
  const { id, status, asked, seconds, turns } = job;
  const head = { id, request_id: 'G-1', version: 2, kind: 'pre-recorded', request_params: asked };
  const utterances = turns.map((turn, at) => utteranceOf(turn, asked.diarization === true ? { speaker: at % 2 } : {}));
  const result = {
    metadata: { audio_duration: seconds, number_of_distinct_channels: 1, billing_time: seconds },
    transcription: { full_transcript: textOf(turns), languages: ['en'], utterances },
  };
  const more = { working: {}, done: { result }, failed: { error_code: 422 } }[status];
  return ok({ ...head, status: STATUS[status], ...more }, httpStatus);
}
