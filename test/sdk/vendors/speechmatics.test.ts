// Speechmatics' official SDKs, unmodified, against the simulated Speechmatics: live sessions and jobs.
import { BatchClient } from '@speechmatics/batch-client';
import { RealtimeClient, type RealtimeServerMessage } from '@speechmatics/real-time-client';
import { expect, it } from 'vitest';
import { scripted, wavFile } from '../../suites/provider/scripted.ts';

const TURNS = [
  { text: 'hello and welcome, all of you.', seconds: 1 },
  { text: 'good bye', seconds: 1 },
];
const FORMAT = { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 } as const;

const simulated = scripted('speechmatics', TURNS);
const serve = () => simulated({ speed: 40 });

it('gets slices and ends of turns, with each frame confirmed', async () => {
  const { socketUrl } = await serve();
  const client = new RealtimeClient({ url: `${socketUrl}/v2` });
  const said: RealtimeServerMessage[] = [];
  client.addEventListener('receiveMessage', ({ data }) => {
    said.push(data);
  });
  await client.start('a-temporary-key', {
    audio_format: FORMAT,
    transcription_config: {
      ...{ language: 'en', model: 'enhanced', enable_partials: true },
      conversation_config: { end_of_utterance_silence_trigger: 0.5 },
    },
  });
  for (let frame = 0; frame < 20; frame++) client.sendAudio(new Uint8Array(3_200));
  await client.stopRecognition();
  const of = <Name extends RealtimeServerMessage['message']>(name: Name) =>
    said.filter((each): each is Extract<RealtimeServerMessage, { message: Name }> => each.message === name);
  expect(of('AudioAdded').map(({ seq_no }) => seq_no)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  expect(of('AddTranscript').map(({ metadata }) => metadata.transcript)).toEqual([
    'hello and welcome ',
    ', all of ',
    'you. ',
    'good bye ',
  ]);
  expect(of('EndOfUtterance')).toHaveLength(1);
  expect(said.at(-1)?.message).toBe('EndOfTranscript');
});

it('makes a job of a file, shows it, gives its transcript, and removes it', async () => {
  const { url } = await serve();
  const client = new BatchClient({ apiKey: 'good', appId: 'test', apiUrl: `${url}/v2` });
  const { id } = await client.createTranscriptionJob(
    { data: wavFile(), fileName: 'audio.wav' },
    { transcription_config: { language: 'en' } },
  );
  expect((await client.getJob(id)).job.status).toBe('done');
  const answer = await client.getJobResult(id, 'json-v2');
  if (typeof answer === 'string') throw new Error(answer);
  const said = answer.results.map(({ alternatives }) => alternatives?.[0]?.content);
  expect(said.join(' ')).toBe('hello and welcome , all of you . good bye');
  await client.deleteJob(id, true);
  await expect(client.getJob(id)).rejects.toBeDefined();
});
