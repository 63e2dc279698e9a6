// Amazon's official SDK against the simulated Amazon Transcribe, over a WebSocket as browsers have it: in Node it uses HTTP/2 by itself.
import {
  type Result,
  StartStreamTranscriptionCommand,
  TranscribeStreamingClient,
} from '@aws-sdk/client-transcribe-streaming';
import { WebSocketFetchHandler } from '@aws-sdk/middleware-websocket';
import { expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { scripted, TURNS } from '../../suites/provider/scripted.ts';

const HOST = 'transcribestreaming.eu-west-1.amazonaws.com:8443';

const simulated = scripted('aws');
const finalsOf = (results: readonly Result[]) => results.filter(({ IsPartial }) => IsPartial === false);

/** Streams two seconds, and keeps what is told. */
async function streamed(options: object) {
  // The handler listens a while after the upgrade, and what comes before that is lost to it.
  const { socketUrl } = await simulated({ faults: ['latency=200ms'] });
  // Signed for Amazon's host, and led to the simulator.
  class Socket extends WebSocket {
    constructor(asked: string) {
      super(asked.replace(`wss://${HOST}`, socketUrl), { headers: { host: HOST } });
      this.on('error', () => {});
    }
  }
  vi.stubGlobal('WebSocket', Socket);
  vi.stubEnv('AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED', 'true');
  const client = new TranscribeStreamingClient({
    region: 'eu-west-1',
    // At the simulator the secret of a key is the key itself.
    credentials: { accessKeyId: 'AKIDEXAMPLE00000', secretAccessKey: 'AKIDEXAMPLE00000' },
    maxAttempts: 1,
    requestHandler: new WebSocketFetchHandler({ connectionTimeout: 30_000 }) as never,
    eventStreamPayloadHandlerProvider: () =>
      ({ handle: (next: (args: object) => unknown, args: object) => next(args) }) as never,
  });
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  async function* audio() {
    for (let half = 0; half < 4; half++) yield { AudioEvent: { AudioChunk: new Uint8Array(16_000) } };
    // It closes its connection as soon as it has nothing more to send.
    await stopped;
  }
  const results: Result[] = [];
  try {
    const { TranscriptResultStream: told = [] } = await client.send(
      new StartStreamTranscriptionCommand({
        ...{ LanguageCode: 'en-US', MediaEncoding: 'pcm', MediaSampleRateHertz: 16_000, AudioStream: audio() },
        ...options,
      }),
    );
    for await (const { TranscriptEvent } of told) {
      results.push(...(TranscriptEvent?.Transcript?.Results ?? []));
      if (finalsOf(results).length === TURNS.length) stop();
    }
  } finally {
    stop();
    client.destroy();
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
  }
  return results;
}

it('signs, and gets partial results and finals with items and speakers', async () => {
  const results = await streamed({ ShowSpeakerLabel: true });
  expect(results.length).toBeGreaterThan(TURNS.length + 1);
  const words = ['hello', 'and', 'welcome', '.'].map((Content) => expect.objectContaining({ Content }));
  expect(finalsOf(results)).toMatchObject([
    { StartTime: 0, EndTime: 1, Alternatives: [{ Transcript: 'hello and welcome.', Items: words }] },
    { StartTime: 1, EndTime: 2, Alternatives: [{ Items: [{ Speaker: '1' }, { Type: 'pronunciation' }] }] },
  ]);
});

it('gets an exception that explains a wrong request', async () => {
  await expect(streamed({ MediaSampleRateHertz: 96_000 })).rejects.toMatchObject({
    name: 'BadRequestException',
    Message: expect.stringContaining('sample-rate'),
  });
});
