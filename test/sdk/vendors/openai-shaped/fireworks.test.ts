// The SDK that Fireworks' documents name for Node, OpenAI's, unmodified, against the simulated Fireworks.
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { simulator } from '../../../../src/vendors/fireworks/simulator/index.ts';
import { scripted, wavFile } from '../../../suites/provider/scripted.ts';
import { testOpenaiFiles } from './openai-files.ts';

const MODEL = 'whisper-v3-turbo';
const DIARIZED = { diarize: 'true', response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] };

testOpenaiFiles({
  simulator,
  model: MODEL,
  words: true,
  refused: [
    // Not served any more.
    [{ model: 'whisper-v3' }, 400],
    [{ vad_model: 'best' }, 400],
    [{ min_speakers: 2 }, 400],
    [{ ...DIARIZED, response_format: 'json' }, 400],
    [{ ...DIARIZED, timestamp_granularities: ['segment'] }, 400],
  ],
  unreadable: 400,
});

const simulated = scripted('fireworks');

it('gets speakers of segments and words', async () => {
  const { url } = await simulated();
  const client = new OpenAI({ apiKey: 'good', baseURL: `${url}/v1`, maxRetries: 0 });
  const asked = { model: MODEL, file: wavFile(), ...DIARIZED } as OpenAI.Audio.TranscriptionCreateParamsNonStreaming;
  const whole = (await client.audio.transcriptions.create(asked)) as unknown as Record<
    string,
    { speaker_id: string }[]
  >;
  expect(whole.segments?.map(({ speaker_id }) => speaker_id)).toEqual(['SPEAKER_00', 'SPEAKER_01']);
  expect(whole.words?.map(({ speaker_id }) => speaker_id.at(-1)).join('')).toBe('00011');
});
