// The vendors' own clients with the address that is told of the end of a job, as their documents show it.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Deferred, deferred } from '../../../../src/http/deferred.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { assemblyaiClient } from '../../drivers/assemblyai.ts';
import { deepgramClient } from '../../drivers/deepgram.ts';
import { gladiaClient } from '../../drivers/gladia.ts';
import { sonioxClient } from '../../drivers/soniox.ts';
import { speechmaticsFiles } from '../../drivers/speechmatics.ts';

const MODEL = 'local/commands-en';
const WORDS = /kitchen/i;
let gateway: LiveGateway;
let server: Server;
let received: Deferred<{ url: string; body: string }>;
const at = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

beforeAll(async () => {
  gateway = await startLiveGateway({
    VOXGATE_WEBHOOK_NETWORKS: '127.0.0.1',
    VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '10000',
  });
  server = createServer(async (request, response) => {
    if (request.url === '/speech.wav') return void response.end(sampleAudio('commands.wav').bytes);
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    response.end();
    received.resolve({ url: request.url ?? '', body });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => {
  received = deferred();
});
afterAll(() => {
  server.close();
});

/** Each asks, waits for the callback, and gets the transcript with the id that it names. */
const CLIENTS: Readonly<Record<string, () => Promise<unknown>>> = {
  async assemblyai() {
    const { transcripts } = assemblyaiClient(gateway);
    await transcripts.submit({ audio: at('/speech.wav'), speech_models: [MODEL], webhook_url: at('/hook') });
    const { transcript_id: id } = JSON.parse((await received.promise).body);
    return (await transcripts.get(id)).text;
  },
  async deepgram() {
    const asked = { url: at('/speech.wav'), model: MODEL, callback: at('/hook') };
    await deepgramClient(gateway).listen.v1.media.transcribeUrl(asked as never);
    return (await received.promise).body;
  },
  async gladia() {
    const asked = { callback: true, callback_config: { url: at('/hook') }, model: MODEL as never };
    await gladiaClient(gateway)
      .preRecordedV2()
      .create({ audio_url: at('/speech.wav'), ...asked });
    return (await received.promise).body;
  },
  async soniox() {
    const { stt } = sonioxClient(gateway);
    await stt.transcribe({ model: MODEL, audio_url: at('/speech.wav'), webhook_url: at('/hook') });
    const { id } = JSON.parse((await received.promise).body);
    return (await stt.getTranscript(id))?.text;
  },
  async speechmatics() {
    const config = {
      transcription_config: { language: 'en', model: MODEL },
      notification_config: [{ url: at('/hook') }],
    };
    const files = speechmaticsFiles(gateway);
    await files.createTranscriptionJob({ url: at('/speech.wav') }, config as never);
    const id = new URLSearchParams((await received.promise).url.split('?')[1]).get('id') as string;
    return files.getJobResult(id, 'text');
  },
};

it.each(Object.entries(CLIENTS))('the client of %s receives the end of a job', async (_, transcript) => {
  expect(JSON.stringify(await transcript())).toMatch(WORDS);
});
