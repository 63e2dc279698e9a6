// Gladia's official SDK, unmodified, against the simulated Gladia: live sessions, which it asks for, and files.
import { GladiaClient, type LiveV2InitRequest, type LiveV2WebSocketMessage } from '@gladiaio/sdk';
import { expect, it } from 'vitest';
import { scripted, WHOLE, wavFile } from '../../suites/provider/scripted.ts';

const simulated = scripted('gladia');

async function client(): Promise<GladiaClient> {
  const { url } = await simulated({ speed: 40 });
  return new GladiaClient({ apiKey: 'good', apiUrl: url, httpRetry: { maxAttempts: 1 } });
}

const session: LiveV2InitRequest = {
  encoding: 'wav/pcm',
  bit_depth: 16,
  sample_rate: 16_000,
  channels: 1,
  model: 'solaria-1',
  messages_config: { receive_partial_transcripts: true, receive_lifecycle_events: true, receive_acknowledgments: true },
};

it('requests a session, connects, gets turns and acknowledged chunks, and stops', async () => {
  const live = (await client()).liveV2().startSession(session);
  const said: LiveV2WebSocketMessage[] = [];
  live.on('message', (message) => said.push(message));
  const ended = new Promise<{ code: number }>((resolve) => live.once('ended', resolve));
  await new Promise<void>((resolve) => live.once('connected', () => resolve()));
  for (let chunk = 0; chunk < 20; chunk++) live.sendAudio(new Uint8Array(3_200));
  live.stopRecording();
  expect((await ended).code).toBe(1000);
  const finals = said.flatMap((each) => (each.type === 'transcript' && each.data.is_final ? [each.data] : []));
  expect(finals.map(({ id, utterance }) => [id, utterance.text])).toEqual([
    ['00_00000000', ' hello and welcome.'],
    ['00_00000001', ' good bye'],
  ]);
  expect(said.filter(({ type }) => type === 'audio_chunk')).toHaveLength(20);
  expect(said.at(-1)?.type).toBe('end_session');
});

it('transcribes a file: upload, job, result; and removes it', async () => {
  const files = (await client()).preRecordedV2();
  const { audio_url } = await files.uploadFile(wavFile());
  const { id } = await files.create({ audio_url, diarization: true });
  const { status, result } = await files.get(id);
  expect([status, result?.transcription?.full_transcript]).toEqual(['done', WHOLE]);
  expect(result?.transcription?.utterances.map(({ speaker }) => speaker)).toEqual([0, 1]);
  expect(await files.delete(id)).toBe(true);
  await expect(files.get(id)).rejects.toBeDefined();
});
