// Rev AI's official SDK, unmodified, against the simulated Rev AI: streams and jobs.
import { AudioConfig, RevAiApiClient, RevAiStreamingClient, SessionConfig } from 'revai-node-sdk';
import { afterEach, expect, it } from 'vitest';
import { simulator } from '../../../src/providers/revai/simulator/index.ts';
import { scriptEar } from '../../../src/simulator/ears.ts';
import { SimulatorServer } from '../../../src/simulator/server.ts';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { quickClock } from '../../simulator/quick-clock.ts';

const TURNS = [
  { text: 'hello and welcome.', seconds: 1 },
  { text: 'good bye', seconds: 1 },
];

const servers: SimulatorServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function settings(token = 'good') {
  const server = await SimulatorServer.start({
    simulator,
    ear: scriptEar({ turns: TURNS, interim_seconds: 0.25 }),
    clock: quickClock(40),
  });
  servers.push(server);
  return { token, deploymentConfig: { baseUrl: server.url, baseWebsocketUrl: server.url.replace('http', 'ws') } };
}

/** Streams two seconds, and keeps what is said until the close. */
async function streamed(token?: string, config?: SessionConfig) {
  const client = new RevAiStreamingClient(
    await settings(token),
    new AudioConfig('audio/x-raw;layout=interleaved;rate=16000;format=S16LE;channels=1'),
  );
  const closed = new Promise<number>((resolve) => client.on('close', resolve));
  const connected = new Promise<unknown>((resolve) => client.on('connect', resolve));
  const stream = client.start(config);
  const said: { type: string; elements: { value: string }[]; speaker_id?: number }[] = [];
  stream.on('data', (message) => said.push(message));
  for (let half = 0; half < 4; half++) stream.write(Buffer.alloc(16_000));
  client.end();
  return { code: await closed, said, connected };
}

it('is connected, hears partials and finals, and is closed in order behind EOS', async () => {
  const config = new SessionConfig();
  config.enableSpeakerSwitch = true;
  const { code, said, connected } = await streamed('good', config);
  expect(await connected).toMatchObject({ type: 'connected' });
  expect(code).toBe(1000);
  const finals = said.filter(({ type }) => type === 'final');
  expect(finals.map(({ elements, speaker_id }) => [elements.map(({ value }) => value).join(''), speaker_id])).toEqual([
    ['hello and welcome.', 0],
    ['good bye', 1],
  ]);
  expect(said.some(({ type }) => type === 'partial')).toBe(true);
});

it.each([
  ['bad-token', 4001],
  ['broke-token', 4003],
  ['limited-token', 4029],
])('with %s is closed with %i', async (token, code) => {
  expect((await streamed(token)).code).toBe(code);
});

it('makes a job of a file, shows it, gives its transcript, and removes it', async () => {
  const client = new RevAiApiClient(await settings());
  const { id } = await client.submitJobAudioData(silentWav(2), 'audio.wav', {
    transcriber: 'machine',
    skip_diarization: true,
  });
  expect((await client.getJobDetails(id)).status).toBe('transcribed');
  const { monologues } = await client.getTranscriptObject(id);
  expect(monologues.map(({ elements }) => elements.map(({ value }) => value).join(''))).toEqual([
    'hello and welcome.',
    'good bye',
  ]);
  await client.deleteJob(id);
  await expect(client.getJobDetails(id)).rejects.toBeDefined();
});
