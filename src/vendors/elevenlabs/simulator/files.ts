// The simulated `POST /v1/speech-to-text`: what a form may ask for, and one answer with every word.
import { type TSchema, Type } from '@sinclair/typebox';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { faultIn, fileIn, formOf, members, oneOf, valuesOf } from '../../kit/simulator/checks.ts';
import { faultInDetail } from '../../kit/simulator/credentials.ts';
import { type HeardText, textOf, wordsOf } from '../../kit/simulator/words.ts';
import { fileAnswer, refusalBody, wordsMessage } from '../messages.ts';

const texts = (maxItems: number, maxLength: number): TSchema =>
  Type.Array(Type.String({ minLength: 1, maxLength }), { maxItems });

const Form = members(
  { file: Type.Unknown(), model_id: oneOf('scribe_v1', 'scribe_v2') },
  {
    language_code: Type.String({ pattern: '^[a-z]{2,3}$' }),
    diarize: Type.Boolean(),
    num_speakers: Type.Integer({ minimum: 1, maximum: 32 }),
    tag_audio_events: Type.Boolean(),
    temperature: Type.Number({ minimum: 0, maximum: 2 }),
    keyterms: texts(1_000, 50),
    use_multi_channel: Type.Boolean(),
    timestamps_granularity: oneOf('none', 'word', 'character'),
  },
  'ignored',
);

/** A refusal, with a status of its own where it has one. */
export function refusal(status: number, code?: string, message = 'The request was refused.'): SimulatedAnswer {
  return { status, body: code === undefined ? { detail: message } : refusalBody(code, message) };
}

/** The words of turns one after another. @param speakerOf a turn, by its number */
export const spokenWords = (turns: readonly HeardText[], speakerOf?: (turn: number) => number): object[] =>
  wordsMessage(
    turns.flatMap((turn, index) =>
      wordsOf(turn).map((word) => ({ ...word, confidence: 0.95, ...(speakerOf && { speaker: speakerOf(index) }) })),
    ),
  );

export async function answerFile(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  const form = await formOf(request);
  const asked = valuesOf(form ?? new FormData(), Form);
  const fault = faultIn(Form, asked);
  if (fault !== undefined) return faultInDetail(fault);
  const file = (await fileIn(form, 'file')) ?? new Uint8Array();
  const heard = await tools.transcribe(file, asked.language_code as string | undefined).catch(() => undefined);
  if (heard === undefined) return refusal(400, 'invalid_content', 'The file is corrupt or no audio.');
  const words = spokenWords(heard.turns, asked.diarize === true ? (turn) => turn % 2 : undefined);
  const told = { language: 'eng', probability: 0.99, text: textOf(heard.turns), words };
  const { transcription_id, audio_duration_secs, ...transcript } = fileAnswer(told, tools.newId(), heard.seconds);
  const body =
    asked.use_multi_channel === true
      ? { transcripts: [{ ...transcript, channel_index: 0 }], audio_duration_secs }
      : { ...transcript, transcription_id, audio_duration_secs };
  return { status: 200, body };
}
