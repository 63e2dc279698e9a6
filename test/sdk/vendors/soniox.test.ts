// Soniox's official SDK, unmodified, against the simulated Soniox.
import { SonioxNodeClient } from '@soniox/node';
import { describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { scripted, WHOLE } from '../../suites/provider/scripted.ts';

const RATE = 16_000;
const SESSION = { model: 'stt-rt-v5', audio_format: 'pcm_s16le', sample_rate: RATE, num_channels: 1 } as const;

// This Node has none of its own without a flag.
vi.stubGlobal('WebSocket', WebSocket);
const simulated = scripted('soniox');

async function client() {
  const { url, socketUrl } = await simulated();
  const ws_base_url = `${socketUrl}/transcribe-websocket`;
  return new SonioxNodeClient({ api_key: 'good', base_url: url, realtime: { ws_base_url } });
}

describe('the SDK live', () => {
  it('gets tokens, some final before others, ends of turns, and the end of the stream', async () => {
    const session = (await client()).realtime.stt({ ...SESSION, enable_endpoint_detection: true });
    const finals: string[] = [];
    let ends = 0;
    let mixed = 0;
    session.on('result', ({ tokens }) => {
      finals.push(...tokens.filter(({ is_final }) => is_final).map(({ text }) => text));
      if (new Set(tokens.map(({ is_final }) => is_final)).size === 2) mixed++;
    });
    session.on('endpoint', () => ends++);
    await session.connect();
    for (let frame = 0; frame < 25; frame++) session.sendAudio(new Uint8Array(3_200));
    await session.finish();
    expect(finals.join('')).toBe('hello and welcome.good byehello and welcome.');
    expect([ends, mixed]).toEqual([2, 3]);
  });

  it('ends a turn by finalize', async () => {
    const session = (await client()).realtime.stt(SESSION);
    const finalized = new Promise<void>((resolve) => session.on('finalized', () => resolve()));
    await session.connect();
    session.sendAudio(new Uint8Array(RATE));
    session.keepAlive();
    session.finalize({ trailing_silence_ms: 200 });
    await finalized;
    session.close();
  });

  it.each([
    [{ model: 'none' }, 'bad_request'],
    [{ context: { text: 'x'.repeat(10_001) } }, 'bad_request'],
  ])('fails with %j', async (change, code) => {
    const session = (await client()).realtime.stt({ ...SESSION, ...change });
    const refused = new Promise<Error>((resolve) => session.on('error', resolve));
    await session.connect();
    expect(await refused).toMatchObject({ code });
  });
});

describe('the SDK with files', () => {
  it('uploads, waits, fetches the transcript, and removes what was kept', async () => {
    const soniox = await client();
    const file = await soniox.files.upload(silentWav(2), { filename: 'audio.wav' });
    const job = await soniox.stt.create({ model: 'stt-async-v5', file_id: file.id, enable_speaker_diarization: true });
    const done = await job.wait({ interval_ms: 1_000 });
    expect(done).toMatchObject({ status: 'completed', audio_duration_ms: 2_000 });
    const transcript = await done.getTranscript();
    expect(transcript?.text).toBe(WHOLE);
    expect(transcript?.tokens.map(({ text }) => text).join('')).toBe(WHOLE);
    expect(new Set(transcript?.tokens.map(({ speaker }) => speaker))).toEqual(new Set(['1', '2']));
    await done.destroy();
    expect([await soniox.stt.get(job.id), await soniox.stt.getTranscript(job.id)]).toEqual([null, null]);
  });

  it('gets an error for a file without audio', async () => {
    const soniox = await client();
    const file = await soniox.files.upload(Buffer.from('no audio at all'), { filename: 'audio.wav' });
    const job = await soniox.stt.create({ model: 'stt-async-v5', file_id: file.id });
    expect(await job.wait({ interval_ms: 1_000 })).toMatchObject({ status: 'error' });
  });
});
