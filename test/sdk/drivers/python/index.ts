// The official Python clients: each is driven by a module of test/sdk/python, and is given the gateway's address and key.
import type { Driver, HeardFinal, Job } from '../../../vendors/compat/driver.ts';
import type { PythonProcess } from './process.ts';

/** Where the jobs run. The drivers are listed without it, in the documents. */
let process: PythonProcess | undefined;

export function usePython(python: PythonProcess): void {
  process = python;
}

interface Functions {
  live?: string;
  file?: string;
}

function ask(
  module: string,
  fn: string,
  job: Omit<Job, 'sampleRate'> & { sampleRate?: number },
  audio: Uint8Array,
  chunkBytes: number,
) {
  if (process === undefined) throw new Error('Start the Python process, and name it to usePython.');
  const { url, key, model, sampleRate, lastWordSeconds, lastWord } = job;
  return process.ask({
    ...{
      module,
      function: fn,
      url,
      key,
      model,
      sample_rate: sampleRate,
      last_word_seconds: lastWordSeconds,
      last_word: lastWord,
    },
    ...{ audio: Buffer.from(audio).toString('base64'), chunk_bytes: chunkBytes },
  });
}

function driver(
  client: string,
  dialect: string,
  module: string,
  { live, file }: Functions,
  more: Partial<Driver> = {},
): Driver {
  return {
    ...{ client, dialect, ...more },
    ...(live === undefined
      ? {}
      : {
          live: async (job, pieces) =>
            (await ask(module, live, job, Buffer.concat(pieces), pieces[0]?.byteLength ?? 0)) as HeardFinal[],
        }),
    ...(file === undefined ? {} : { file: async (job, wav) => (await ask(module, file, job, wav, 0)) as string }),
  };
}

/** Models that each end turns in another way: after words or with events of turns, after pauses without interims, with tokens, by the gateway. */
const ENDED_BY_CLIENT = [
  'deepgram/nova-3',
  'deepgram/flux-general-en',
  'openai/whisper-1',
  'soniox/stt-rt-v5',
  'cartesia/ink-2',
];
/** Silence ends no turn of numbered audio where the gateway has to find the end. */
const ENDED_BY_SILENCE = ENDED_BY_CLIENT.filter((slug) => slug !== 'cartesia/ink-2');

/** A plugin of LiveKit's agents. */
const livekit = (client: string, dialect: string, live: string, models: readonly string[], file?: string): Driver =>
  driver(client, dialect, 'livekit_plugins', { live, ...(file === undefined ? {} : { file }) }, { models });

/** A service in a pipeline of pipecat. */
const pipecat = (client: string, dialect: string, live: string, models: readonly string[]): Driver =>
  driver(client, dialect, 'pipecat_services', { live }, { models });

export const pythonDrivers: readonly Driver[] = [
  driver('openai, realtime', 'openai', 'openai_sdk', { live: 'live', file: 'file' }),
  driver('openai, realtime with turn detection', 'openai', 'openai_sdk', { live: 'live_with_turn_detection' }),
  driver('deepgram-sdk, listen v1', 'deepgram', 'deepgram_sdk', { live: 'nova', file: 'file' }),
  driver('deepgram-sdk, listen v2', 'deepgram', 'deepgram_sdk', { live: 'flux' }),
  driver('assemblyai, streaming v3', 'assemblyai', 'assemblyai_sdk', { live: 'live', file: 'file' }),
  driver('elevenlabs, realtime', 'elevenlabs', 'elevenlabs_sdk', { live: 'live', file: 'file' }),
  driver('speechmatics-rt, speechmatics-batch', 'speechmatics', 'speechmatics_sdk', { live: 'live', file: 'file' }),
  driver('soniox, real-time', 'soniox', 'soniox_sdk', { live: 'live', file: 'file' }),
  driver('gladiaio-sdk, live', 'gladia', 'gladia_sdk', { live: 'live', file: 'file' }),
  livekit('livekit-agents, inference.STT', 'livekit', 'inference', ENDED_BY_CLIENT),
  livekit('livekit-plugins-deepgram, STT', 'deepgram', 'deepgram', ENDED_BY_CLIENT),
  livekit('livekit-plugins-deepgram, STTv2', 'deepgram', 'flux', ENDED_BY_CLIENT),
  livekit('livekit-plugins-openai, STT', 'openai', 'openai', ENDED_BY_SILENCE, 'openai_file'),
  livekit('livekit-plugins-assemblyai, STT', 'assemblyai', 'assemblyai', ENDED_BY_CLIENT),
  // Any other name means files to it.
  livekit(
    'livekit-plugins-elevenlabs, STT',
    'elevenlabs',
    'elevenlabs',
    ['elevenlabs/scribe_v2_realtime'],
    'elevenlabs_file',
  ),
  livekit('livekit-plugins-soniox, STT', 'soniox', 'soniox', ENDED_BY_SILENCE),
  livekit('livekit-plugins-gladia, STT', 'gladia', 'gladia', ENDED_BY_SILENCE),
  pipecat('pipecat, DeepgramSTTService', 'deepgram', 'deepgram', ENDED_BY_CLIENT),
  pipecat('pipecat, DeepgramFluxSTTService', 'deepgram', 'flux', ENDED_BY_SILENCE),
  pipecat('pipecat, OpenAIRealtimeSTTService', 'openai', 'openai', ENDED_BY_CLIENT),
  pipecat('pipecat, AssemblyAISTTService', 'assemblyai', 'assemblyai', ENDED_BY_CLIENT),
  pipecat('pipecat, SonioxSTTService', 'soniox', 'soniox', ENDED_BY_SILENCE),
  pipecat('pipecat, GladiaSTTService', 'gladia', 'gladia', ENDED_BY_SILENCE),
];
