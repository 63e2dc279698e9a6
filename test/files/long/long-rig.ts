// Files of numbered words at scripted providers that hear them, each with limits of its own.
import { afterEach } from 'vitest';
import type { Candidate } from '../../../src/api/listen.ts';
import type { TranscriptionRequest } from '../../../src/api/transcriptions.ts';
import { WavReader } from '../../../src/audio/containers/wav.ts';
import { createPriceList } from '../../../src/config/prices/price-list.ts';
import { FileDecodings } from '../../../src/files/decoding/decoding.ts';
import type { AudioFile } from '../../../src/files/file-source.ts';
import { LongFiles, type LongFilesOptions, type PartsProgress } from '../../../src/files/long/long-files.ts';
import { type FileObserver, transcribe } from '../../../src/files/transcribe.ts';
import { resolveChain } from '../../../src/live/failover/chain.ts';
import { HttpPools } from '../../../src/live/upstream/http/pools.ts';
import { UpstreamHost } from '../../../src/live/upstream/upstream-host.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import type { BatchStep, ModelCard, Provider } from '../../../src/vendors/kit/provider.ts';
import { loopback } from '../../../src/vendors/loopback/index.ts';
import { LoopbackEngine } from '../../../src/vendors/loopback/simulator.ts';
import { heard } from '../../fakes/audio/talking.ts';
import { patientBreakers } from '../../fakes/patient-breakers.ts';
import {
  type Answer,
  HttpProvider,
  type ScriptedProviderOptions,
  SECRET,
  scriptedProvider,
} from '../../live/upstream/http-batch-fixture.ts';
import { MemoryFiles } from './memory-files.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

export interface RigOptions {
  scripted?: Partial<Record<Name, ScriptedProviderOptions & { capabilities?: Partial<ModelCard['capabilities']> }>>;
  longFiles?: Partial<LongFilesOptions>;
}

type Name = 'one' | 'two' | 'three';

export interface RunOptions {
  fallbacks?: Candidate[];
  request?: Partial<TranscriptionRequest>;
  signal?: AbortSignal;
}

/** What a provider answers: the words of the WAV that it was sent. */
export const hears: Answer = (response, { body }) => {
  const reader = new WavReader();
  const samples = reader.push(body);
  const words = heard(samples);
  const seconds = samples.length / (reader.format?.sampleRate ?? 1);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ words, seconds }));
};

function read(_: unknown, { body }: { body: string }): BatchStep {
  const { words, seconds } = JSON.parse(body) as { words: ReturnType<typeof heard>; seconds: number };
  const utterances =
    words.length === 0
      ? []
      : [{ text: words.map(({ word }) => word).join(' '), start: words[0]!.start, end: words.at(-1)!.end, words }];
  return { type: 'done', result: { utterances, language: 'en', seconds, warnings: [] } };
}

/** Text alone, as of models that give no times. */
export function readText(_: unknown, { body }: { body: string }): BatchStep {
  const { words, seconds } = JSON.parse(body) as { words: ReturnType<typeof heard>; seconds: number };
  const utterances = [{ text: words.map(({ word }) => word).join(' '), start: 0, end: seconds }];
  return { type: 'done', result: { utterances, language: 'en', seconds, warnings: [] } };
}

export async function longRig({ scripted = {}, longFiles: changes = {} }: RigOptions = {}) {
  const pools = new HttpPools();
  const providers = new Map<string, Provider>([[loopback.name, loopback]]);
  const servers = {} as Record<Name, HttpProvider>;
  for (const name of ['one', 'two', 'three'] as const) {
    const { capabilities, ...options } = scripted[name] ?? {};
    const provider = scriptedProvider(name, { ...options, codec: { read, ...options.codec } });
    const models = provider.models.map((card) => ({
      ...card,
      capabilities: { ...card.capabilities, ...capabilities },
    }));
    providers.set(name, { ...provider, models });
    servers[name] = await new HttpProvider(hears).listen();
    closers.push(() => servers[name].close());
  }
  closers.push(() => pools.close());
  const clock = systemClock;
  const access = (name: string) => ({ baseUrl: servers[name as Name]?.url, credential: SECRET });
  const engines = { loopback: new LoopbackEngine(clock) };
  const upstream = new UpstreamHost({ providers, engines, access, clock });
  const decodings = new FileDecodings({ clock });
  const files = new MemoryFiles();
  const longFiles = new LongFiles({ decodings, openFile: () => files.open(), ...changes });
  const progress: PartsProgress[] = [];
  const moments: string[] = [];
  const observer: FileObserver = {
    tagged: () => {},
    asked: (model) => void moments.push(`asked ${model}`),
    answered: (model) => void moments.push(`answered ${model}`),
    failed: (model, reason) => void moments.push(`failed ${model} ${reason}`),
    ended: () => {},
  };
  const run = async (file: AudioFile, model: string, options: RunOptions = {}) => {
    const request: TranscriptionRequest = {
      model,
      fallbacks: options.fallbacks ?? [],
      responseFormat: 'json',
      language: undefined,
      diarization: false,
      timestampGranularities: [],
      wordTimestamps: true,
      providerParams: {},
      stream: false,
      strict: false,
      common: {},
      ...options.request,
    };
    const { members } = await resolveChain(
      { ...request, mode: 'batch', organisationId: 'org_1', sampleRate: 16_000, interimResults: false },
      { providers, engines, access, prices: createPriceList(providers.values()) },
    );
    return transcribe(
      { upstream, http: { pools, clock }, breakers: patientBreakers(clock), decodings, longFiles },
      {
        ...{ jobId: 'job_1', organisationId: 'org_1', request, chain: members, file, observer },
        signal: options.signal ?? new AbortController().signal,
        hearEmptyAgain: true,
        onProgress: (each) => void progress.push(each),
      },
    );
  };
  return { run, servers, files, longFiles, progress, moments, upstream };
}

/** A file of headerless samples, as the endpoint hands it over. */
export const kept = (bytes: Uint8Array, rawSampleRate?: number): AudioFile => ({
  bytes: bytes.length,
  rawSampleRate,
  read: async function* () {
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
  },
});

/** The same while it is still arriving, with a copy once it is here. */
export const arriving = (bytes: Uint8Array): AudioFile => ({
  ...kept(bytes),
  bytes: undefined,
  copy: async () => kept(bytes),
});
