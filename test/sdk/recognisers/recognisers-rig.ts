// A whole gateway over recognisers that others have made, each in a process of its own: PocketSphinx behind Vosk's protocol, Moonshine
// behind OpenAI's, and a simulated cloud that hears with the embedded one. Any of them can be lost in the middle of a word.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import WebSocket from 'ws';
import { openLocalRecogniser } from '../../../src/cli/shared/local-recogniser.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { RecogniserProcess } from './recogniser-process.ts';

export const SPHINX = 'custom/sphinx';
export const MOONSHINE = 'custom/moonshine';
/** The same server as MOONSHINE's, asked as whisper.cpp's. */
export const WHISPER = 'custom/whisper';
export const LOCAL = 'local/commands-en';
export const CLOUD = 'assemblyai/universal-streaming-english';
/** USD for a minute. */
export const PRICES: Readonly<Record<string, number>> = { [SPHINX]: 0.3, [MOONSHINE]: 0.6, [WHISPER]: 0.6, [LOCAL]: 0 };

const SHAPES = { [SPHINX]: 'vosk-shaped', [MOONSHINE]: 'whisper-shaped' } as const;
const FRAME_BYTES = 3_200;
const BYTES_PER_SECOND = 32_000;
/** What a recogniser shows is behind what it was sent. */
const LATE_SECONDS = 0.5;
const FILE = 'commands.wav';
const audio = sampleAudio(FILE);
/** What a transcription says in `verbose_json`. */
export interface Answer {
  text: string;
  words?: { word: string; start: number; end: number }[];
  usage?: { seconds: number };
}

export class Recognisers {
  readonly live: LiveGateway;
  readonly processes: Record<string, RecogniserProcess>;
  private readonly cloud: SimulatorServer;

  private constructor(live: LiveGateway, processes: Record<string, RecogniserProcess>, cloud: SimulatorServer) {
    this.live = live;
    this.processes = processes;
    this.cloud = cloud;
  }

  /** All of it is closed after the tests of the file. */
  static async start(): Promise<Recognisers> {
    const simulator = simulators.find(({ provider }) => provider === 'assemblyai');
    if (simulator === undefined) throw new Error('There is no simulator of assemblyai.');
    const ears = openLocalRecogniser();
    const [sphinx, moonshine, cloud] = await Promise.all([
      RecogniserProcess.start(SHAPES[SPHINX]),
      RecogniserProcess.start(SHAPES[MOONSHINE]),
      SimulatorServer.start({ simulator, ear: ears.ear, clock: systemClock, faults: [] }),
      ears.warmUp(),
    ]);
    closing.push(async () => {
      await cloud.close();
      await ears.close();
    });
    const file = join(temporaryDirectory(), 'voxgate.json');
    const price = (slug: string) => String(PRICES[slug]);
    const custom = [
      {
        ...{ shape: 'vosk', url: `ws://127.0.0.1:${sphinx.port}` },
        models: [{ name: 'sphinx', model: 'en-us', sampleRates: [16_000], live: price(SPHINX), batch: price(SPHINX) }],
      },
      {
        ...{ shape: 'openai', url: `http://127.0.0.1:${moonshine.port}/v1` },
        models: [{ name: 'moonshine', model: 'moonshine-tiny', batch: price(MOONSHINE) }],
      },
      {
        ...{ shape: 'whispercpp', url: `http://127.0.0.1:${moonshine.port}` },
        models: [{ name: 'whisper', model: 'whisper', batch: price(WHISPER) }],
      },
    ];
    writeFileSync(file, JSON.stringify({ custom }));
    const live = await startLiveGateway({
      ...{ VOXGATE_CONFIG: file, VOXGATE_BREAKER_FAILURES_MAX: '1000' },
      ...{ VOXGATE_ASSEMBLYAI_URL: cloud.url, ASSEMBLYAI_API_KEY: 'key' },
    });
    return new Recognisers(live, { [SPHINX]: sphinx, [MOONSHINE]: moonshine }, cloud);
  }

  /** A file through the gateway. */
  async transcribe(model: string, file = FILE): Promise<Answer> {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model, response_format: 'verbose_json' })) form.set(name, value);
    form.set('file', new Blob([sampleAudio(file).bytes]), file);
    const response = await this.live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Answer;
  }

  /**
   * A session of the file, as fast as the socket takes it.
   *
   * @param losses whose server is killed in the middle of a word at the second, when it has heard up to there
   */
  async listen(chain: readonly string[], losses: readonly (readonly [model: string, atSeconds: number])[] = []) {
    const [model = '', ...fallbacks] = chain;
    const client = this.live.connect({
      ...{ sample_rate: String(audio.sampleRate), model, interim_results: 'true' },
      ...(fallbacks.length === 0 ? {} : { fallbacks: fallbacks.join(',') }),
    });
    let sent = 0;
    const send = (until: number) => {
      for (; sent < until; sent += FRAME_BYTES) {
        client.send(audio.pcm.subarray(sent, Math.min(sent + FRAME_BYTES, until)));
      }
      sent = until;
    };
    await client.event('session_started');
    for (const [lost, atSeconds] of losses) {
      // What hears utterances has one answered, and another under way.
      const isUnderWay = lost === MOONSHINE ? this.processes[lost]?.begins(2) : undefined;
      send(atSeconds * BYTES_PER_SECOND);
      await isUnderWay;
      const behind = isUnderWay === undefined ? atSeconds - LATE_SECONDS : 0;
      await client.event('transcript', ({ end, model: by }) => by === lost && end > behind);
      await this.lose(lost);
    }
    send(audio.pcm.byteLength);
    client.send({ type: 'close' });
    const { code } = await client.close();
    const failovers = client.of('failover').map(({ from, to }) => [from, to]);
    const [{ usage = [], cost_usd: cost = '' } = {}] = client.of('session_ended');
    return { client, code, failovers, usage, cost: Number(cost), finals: client.finals };
  }

  private async lose(model: string): Promise<void> {
    if (model === CLOUD) await this.cloud.close();
    else await this.processes[model]?.kill();
  }

  /** Starts it where it was. */
  async bringBack(model: keyof typeof SHAPES): Promise<void> {
    this.processes[model] = await RecogniserProcess.start(SHAPES[model], this.processes[model]?.port);
  }
}

const closing: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(closing.splice(0).map((close) => close())));

/** What a server like Vosk's says to the file when it is asked without a gateway, turn by turn. */
export async function askVosk(
  port: number,
  file = FILE,
): Promise<{ text: string; result: { word: string; start: number }[] }[]> {
  const { pcm, sampleRate } = sampleAudio(file);
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  const turns: Awaited<ReturnType<typeof askVosk>> = [];
  socket.on('open', () => {
    socket.send(JSON.stringify({ config: { sample_rate: sampleRate } }));
    for (let at = 0; at < pcm.length; at += FRAME_BYTES) socket.send(pcm.subarray(at, at + FRAME_BYTES));
    socket.send('{"eof" : 1}');
  });
  socket.on('message', (data) => {
    const said = JSON.parse(String(data)) as { text?: string };
    if (said.text) turns.push(said as (typeof turns)[number]);
  });
  await new Promise((resolve, reject) => socket.on('close', resolve).on('error', reject));
  return turns;
}

/** What a server like OpenAI's says to the file. */
export async function askWhisper(port: number, file = FILE): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([sampleAudio(file).bytes]), file);
  const response = await fetch(`http://127.0.0.1:${port}/inference`, { method: 'POST', body: form });
  return ((await response.json()) as { text: string }).text;
}
