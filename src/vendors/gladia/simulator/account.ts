// What the simulated Gladia keeps beyond one request: sessions that were requested, uploads and jobs for files.

import { Type } from '@sinclair/typebox';
import { listIn, objectIn } from '../../kit/json.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { bodyOf, faultIn, fileIn, formOf, members, type ValueFault } from '../../kit/simulator/checks.ts';
import { type FileJob, FileJobs, ok, Remembered } from '../../kit/simulator/routes.ts';
import { type HeardText, textOf, wordsOf } from '../../kit/simulator/words.ts';
import {
  fileMessage,
  jobMessage,
  metadataMessage,
  refusalBody,
  transcriptionMessage,
  utteranceMessage,
  validationError,
} from '../messages.ts';

/** What a session was requested with. */
export interface AskedSession {
  id: string;
  sampleRate: number;
  language: string | undefined;
  sendsPartials: boolean;
  sendsSpeech: boolean;
  acknowledges: boolean;
  sendsLifecycle: boolean;
}

export class Account extends FileJobs {
  /** By their tokens. */
  readonly sessions = new Remembered<AskedSession>();
}

export const REQUEST_ID = 'G-00000000';

export const invalid = ({ member, message }: Pick<ValueFault, 'member' | 'message'>): SimulatedAnswer => ({
  status: 400,
  body: refusalBody(400, 'Invalid parameter(s).', REQUEST_ID, validationError(member, message)),
});

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

const CREATED = new Date('2026-01-01T00:00:00.000Z');
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
  return ok({
    audio_url: `${request.url.origin}/file/${id}`,
    audio_metadata: fileMessage(id, 'audio.wav', file.length, 0, 1),
  });
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
  const utterances = turns.map((turn, at) => utteranceOf(turn, asked.diarization === true ? at % 2 : undefined));
  const result = {
    metadata: metadataMessage(seconds, 1, seconds, 0),
    transcription: transcriptionMessage(textOf(turns), utterances),
  };
  const failure = status === 'failed' ? { status: 422, message: 'The file is no audio.' } : undefined;
  const shownAs = { id, kind: 'pre-recorded', status: STATUS[status] } as const;
  const times = { createdAt: CREATED, endedAt: status === 'working' ? undefined : CREATED };
  const asIs = { request_params: asked };
  return ok(jobMessage(shownAs, times, null, asIs, failure, status === 'done' ? result : null), httpStatus);
}

/** A turn, live or of a file. */
export const utteranceOf = (heard: HeardText, speaker?: number) =>
  utteranceMessage(
    { text: ` ${heard.text}`, start: heard.start, end: heard.end, language: 'en' },
    0.9,
    0,
    wordsOf(heard).map((word) => ({ confidence: 0.9, ...word })),
    speaker,
  );
