// The vendors' own clients with the address of a file, as their documents show it.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { assemblyaiClient } from '../../drivers/assemblyai.ts';
import { deepgramClient } from '../../drivers/deepgram.ts';
import { elevenlabsClient } from '../../drivers/elevenlabs.ts';
import { gladiaClient } from '../../drivers/gladia.ts';
import { sonioxClient } from '../../drivers/soniox.ts';
import { speechmaticsFiles } from '../../drivers/speechmatics.ts';

const MODEL = 'local/commands-en';
let gateway: LiveGateway;
let files: Server;
let url = '';
let fetches = 0;

beforeAll(async () => {
  gateway = await startLiveGateway({
    VOXGATE_WEBHOOK_NETWORKS: '127.0.0.1',
    VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '10000',
  });
  files = createServer((_, response) => {
    fetches++;
    response.end(sampleAudio('commands.wav').bytes);
  }).listen(0, '127.0.0.1');
  await once(files, 'listening');
  url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/speech.wav?signature=1`;
});
afterAll(() => {
  files.close();
});

const CLIENTS: Readonly<Record<string, () => Promise<unknown>>> = {
  async assemblyai() {
    const asked = { audio_url: url, speech_models: [MODEL] };
    return (await assemblyaiClient(gateway).transcripts.transcribe(asked, { pollingInterval: 50 })).text;
  },
  deepgram: () => deepgramClient(gateway).listen.v1.media.transcribeUrl({ url, model: MODEL } as never),
  elevenlabs: () => elevenlabsClient(gateway).speechToText.convert({ modelId: MODEL as never, cloudStorageUrl: url }),
  gladia: () =>
    gladiaClient(gateway)
      .preRecordedV2()
      .transcribe(url, { model: MODEL as never }, { interval: 50 }),
  async soniox() {
    const heard = await sonioxClient(gateway).stt.transcribe({ model: MODEL, audio_url: url, wait: true });
    return heard.transcript?.text;
  },
  speechmatics() {
    const config = { transcription_config: { language: 'en', model: MODEL } };
    return speechmaticsFiles(gateway).transcribe({ url }, config, 'text');
  },
};

it.each(Object.entries(CLIENTS))(
  'the client of %s gets the transcript of a file at an address',
  async (_, transcribe) => {
    fetches = 0;
    expect(JSON.stringify(await transcribe())).toMatch(/kitchen/i);
    expect(fetches).toBe(1);
  },
);
