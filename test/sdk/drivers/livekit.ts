// LiveKit's agents: the recogniser of LiveKit Inference, and those of their plugin for Deepgram, pointed at the gateway by addresses
// alone.
import { setTimeout } from 'node:timers/promises';
import { inference, initializeLogger, stt, VAD, VADStream } from '@livekit/agents';
import { STTv2 as FluxSTT, STT as NovaSTT } from '@livekit/agents-plugin-deepgram';
import { AudioFrame } from '@livekit/rtc-node';
import type { Driver, HeardFinal, Job } from '../../vendors/compat/driver.ts';

initializeLogger({ pretty: false, level: 'silent' });

const ONCE = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 20_000 };

/**
 * For models of Speechmatics the client finds the ends of speech by itself, and never ends then: its `VADStream` closes a stream that it
 * holds locked. So it is given another, which hears nothing.
 */
class DeafVad extends VAD {
  readonly label = 'deaf';
  constructor() {
    super({ updateInterval: 1_000 });
  }
  override stream(): VADStream {
    return new DeafVadStream(this);
  }
}

class DeafVadStream extends VADStream {
  override pushFrame(): void {}
  override endInput(): void {
    void this.outputWriter.close();
  }
  override close(): void {}
}

const vadFor = (model: string) => (model.startsWith('speechmatics/') ? { vad: new DeafVad() } : {});

const livekitStt = ({ url, key, model, sampleRate }: Job): stt.STT =>
  new inference.STT({
    ...{ model, sampleRate, baseURL: `${url}/compat/livekit/v1`, apiKey: key, apiSecret: key },
    connOptions: ONCE,
    ...vadFor(model),
  });

/** A word ends with the audio but for what is rounded on the way. */
const ROUNDING_SECONDS = 0.05;

/**
 * How a client ends: `atOnce` behind the last frame; `heard` when it was told all, where it leaves with the first message behind its own
 * end; `atPace` behind frames that came at the pace of speech, as an agent has them, where it leaves three seconds after a final.
 */
type Ends = 'atOnce' | 'heard' | 'atPace';

async function hear(
  recogniser: stt.STT,
  { sampleRate, lastWordSeconds }: Job,
  pieces: readonly Uint8Array[],
  ends: Ends,
) {
  const failed = new Promise<never>((_, reject) => recogniser.on('error', ({ error }) => reject(error)));
  failed.catch(() => {});
  const stream = recogniser.stream({ connOptions: ONCE });
  const send = async () => {
    for (const piece of pieces) {
      const samples = new Int16Array(new Uint8Array(piece).buffer);
      stream.pushFrame(new AudioFrame(samples, sampleRate, 1, samples.length));
      if (ends === 'atPace') await setTimeout((samples.length / sampleRate) * 1_000);
    }
    if (ends === 'heard') stream.flush();
    else stream.endInput();
  };
  const audioSeconds = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0) / 2 / sampleRate;
  const seconds = lastWordSeconds ?? audioSeconds;
  const finals: HeardFinal[] = [];
  let isWaiting = ends === 'heard';
  const told = async () => {
    for await (const { type, alternatives } of stream) {
      if (type !== stt.SpeechEventType.FINAL_TRANSCRIPT || alternatives === undefined) continue;
      const [{ text, endTime }] = alternatives;
      // The client adds what it counts of the time before its first connection: milliseconds, on a busy machine.
      const end = endTime - stream.startTimeOffset;
      finals.push({ text, end });
      if (!isWaiting || end < seconds - ROUNDING_SECONDS) continue;
      isWaiting = false;
      stream.endInput();
    }
    return finals;
  };
  try {
    const [, heard] = await Promise.race([failed, Promise.all([send(), told()])]);
    return heard;
  } finally {
    stream.close();
  }
}

const liveBy =
  (recogniserOf: (job: Job) => stt.STT, ends: Ends): NonNullable<Driver['live']> =>
  (job, pieces) =>
    hear(recogniserOf(job), job, pieces, ends);

export const livekitInference: Driver = {
  client: '@livekit/agents, inference.STT',
  dialect: 'livekit',
  unmet: {
    'kyutai/stt-1b-en_fr':
      'it leaves three seconds after a final, and the next may take longer where the machine is busy',
  },
  // Turns of speech end by themselves, and a slow machine is waited for; those of numbered audio end with the client.
  live: (job, pieces) => hear(livekitStt(job), job, pieces, job.lastWordSeconds === undefined ? 'atPace' : 'heard'),
};

const PLUGIN = '@livekit/agents-plugin-deepgram';

export const livekitNova: Driver = {
  client: `${PLUGIN}, STT`,
  dialect: 'deepgram',
  live: liveBy(
    ({ url, key, model, sampleRate }) =>
      new NovaSTT({
        ...{ model: model as never, sampleRate, apiKey: key },
        baseUrl: `${url.replace('http', 'ws')}/compat/deepgram`,
      }),
    'heard',
  ),
};

export const livekitFlux: Driver = {
  client: `${PLUGIN}, STTv2`,
  dialect: 'deepgram',
  live: liveBy(
    ({ url, key, model, sampleRate }) =>
      new FluxSTT({
        ...{ model: model as never, sampleRate, apiKey: key },
        endpointUrl: `${url.replace('http', 'ws')}/compat/deepgram/v2/listen`,
      }),
    'atOnce',
  ),
};
