// Audio at an address through the client, in the place of a file: on a real gateway that fetches it, and its form on the wire.
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type TranscriptionEvent, Voxgate } from '../../clients/typescript/src/index.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { remoteServer, whole } from '../files/remote/remote-server.ts';
import { json, refusal, type ScriptedHttp, startScriptedHttp } from './rig/scripted-http.ts';

const { bytes } = sampleAudio('number.wav');
const MODEL = { model: 'local/commands-en' } as const;
const QUERY = '?X-Amz-Signature=5ec7e7';
const audio = await remoteServer((socket, head) =>
  socket.end(head.startsWith('GET /none') ? whole('no', {}, '404 Not Found') : whole(bytes)),
);
const audioUrl = audio.at(`/number.wav${QUERY}`);
let live: LiveGateway;
let client: Voxgate;
let text: string;
let http: ScriptedHttp;
beforeAll(async () => {
  live = await startLiveGateway({ VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8' });
  client = new Voxgate({ apiKey: live.key, baseUrl: live.url });
  ({ text } = await client.transcribe({ ...MODEL, file: bytes }));
  http = await startScriptedHttp();
});

describe('audio at an address', () => {
  it('is transcribed like a file, in any format', async () => {
    expect((await client.transcribe({ ...MODEL, audioUrl })).text).toBe(text);
    expect((await client.transcribe({ ...MODEL, audioUrl, responseFormat: 'text' })).trim()).toBe(text);
    const verbose = await client.transcribe({
      ...MODEL,
      audioUrl,
      responseFormat: 'verbose_json',
      timestampGranularities: ['word'],
      fallbacks: ['loopback/script'],
    });
    expect(verbose.words?.map(({ word }) => word).join(' ')).toBe(text);
  });

  it('is streamed like a file', async () => {
    const events: TranscriptionEvent[] = [];
    for await (const event of await client.transcribe({ ...MODEL, audioUrl, stream: true })) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text });
  });

  it('is transcribed as a job, which shows the address without its query', async () => {
    const created = await client.jobs.create({ ...MODEL, audioUrl });
    expect(created).toMatchObject({ audio_url: audio.at('/number.wav'), file: { bytes: null } });
    const job = await client.jobs.wait(created.id, { intervalMs: 100 });
    expect(job).toMatchObject({ status: 'completed', result: { text } });
    expect(JSON.stringify([created, job])).not.toContain('5ec7e7');
  });

  it('that cannot be fetched is refused with the reason', async () => {
    const none = client.transcribe({ ...MODEL, audioUrl: audio.at('/none.wav') });
    await expect(none).rejects.toMatchObject({ status: 422, code: 'audio_url_failed', param: 'audio_url' });
    const plain = client.transcribe({ ...MODEL, audioUrl: 'http://192.0.2.1/a.wav' });
    await expect(plain).rejects.toMatchObject({ status: 400, code: 'audio_url_not_allowed', param: 'audio_url' });
  });

  it('is a field of the form, which is sent again with the same key', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    http.answers = [refusal(503, 'server_error', 'overloaded'), json(200, { text: 'yes' })];
    const scripted = new Voxgate({ apiKey: live.key, baseUrl: http.url });
    expect(await scripted.transcribe({ ...MODEL, audioUrl, language: 'en' })).toEqual({ text: 'yes' });
    vi.restoreAllMocks();
    const forms = await Promise.all(
      http.arrived.map(({ headers, body }) =>
        new Response(new Uint8Array(body), { headers: { 'Content-Type': headers['content-type'] ?? '' } }).formData(),
      ),
    );
    const fields = [
      ['model', MODEL.model],
      ['language', 'en'],
      ['audio_url', audioUrl],
    ];
    expect(forms.map((form) => [...form])).toEqual([fields, fields]);
    expect(new Set(http.arrived.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });
});

it.each<[string, object]>([
  ['file', {}],
  ['audioUrl', { file: bytes, audioUrl }],
  ['audioUrl', { audioUrl: '' }],
  ['audioUrl', { audioUrl: new URL(audioUrl) }],
  ['fileName', { audioUrl, fileName: 'a.wav' }],
  ['contentType', { audioUrl, contentType: 'audio/wav' }],
  ['audio_url', { audio_url: audioUrl }],
])('is refused by its name where the audio is not one file or one address: %s of %o', async (param, options) => {
  const failure = { name: 'InvalidRequestError', code: 'invalid_option', param };
  await expect(client.transcribe({ ...MODEL, ...options } as never)).rejects.toMatchObject(failure);
  await expect(client.jobs.create({ ...MODEL, ...options } as never)).rejects.toMatchObject(failure);
});
