// The official Python clients: each is driven by a module of test/clients/python-sdks, and is given the gateway's address and key.
import type { Driver, HeardFinal, Job } from '../driver.ts';
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
  const { url, key, model, sampleRate, lastWordSeconds } = job;
  return process.ask({
    ...{ module, function: fn, url, key, model, sample_rate: sampleRate, last_word_seconds: lastWordSeconds },
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
];
