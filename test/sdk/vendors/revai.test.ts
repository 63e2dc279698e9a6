// Rev AI's official SDK, unmodified, against the simulated Rev AI: streams and jobs.
import { AudioConfig, RevAiApiClient, RevAiStreamingClient, SessionConfig } from 'revai-node-sdk';
import { expect, it } from 'vitest';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { scripted, TURNS } from '../../suites/provider/scripted.ts';

const simulated = scripted('revai');

async function settings() {
  const { url, socketUrl } = await simulated({ speed: 40 });
  return { token: 'good', deploymentConfig: { baseUrl: url, baseWebsocketUrl: socketUrl } };
}

const textOf = ({ elements }: { elements: { value: string }[] }) => elements.map(({ value }) => value).join('');

it('connects, gets partials and finals, and closes in order after EOS', async () => {
  const config = new SessionConfig();
  config.enableSpeakerSwitch = true;
  const client = new RevAiStreamingClient(
    await settings(),
    new AudioConfig('audio/x-raw;layout=interleaved;rate=16000;format=S16LE;channels=1'),
  );
  const closed = new Promise<number>((resolve) => client.on('close', resolve));
  const connected = new Promise<unknown>((resolve) => client.on('connect', resolve));
  const stream = client.start(config);
  const said: { type: string; elements: { value: string }[]; speaker_id?: number }[] = [];
  stream.on('data', (message) => said.push(message));
  for (let half = 0; half < 4; half++) stream.write(Buffer.alloc(16_000));
  client.end();
  expect([await closed, await connected]).toMatchObject([1000, { type: 'connected' }]);
  const finals = said.filter(({ type }) => type === 'final');
  expect(finals.map((final) => [textOf(final), final.speaker_id])).toEqual(TURNS.map(({ text }, at) => [text, at]));
  expect(said.some(({ type }) => type === 'partial')).toBe(true);
});

it('makes a job of a file, shows it, gives its transcript, and removes it', async () => {
  const client = new RevAiApiClient(await settings());
  const { id } = await client.submitJobAudioData(silentWav(2), 'audio.wav', {
    transcriber: 'machine',
    skip_diarization: true,
  });
  expect((await client.getJobDetails(id)).status).toBe('transcribed');
  const { monologues } = await client.getTranscriptObject(id);
  expect(monologues.map(textOf)).toEqual(TURNS.map(({ text }) => text));
  await client.deleteJob(id);
  await expect(client.getJobDetails(id)).rejects.toBeDefined();
});
