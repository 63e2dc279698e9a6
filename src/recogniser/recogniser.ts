// The embedded recogniser as one engine: grammars in threads, each speech model in a process of its own, and voices in another.
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../machines/clock.ts';
import { speechModelsFolder, workerFile } from '../runtime/telemetry/worker-file.ts';
import type { Engine, EngineConnection, EngineListener } from '../vendors/kit/provider.ts';
import type { SpeechModel } from '../vendors/local/own-model.ts';
import { builtInModel, type WorkerSettings } from './dictation/model.ts';
import { type QueryFault, readQuery } from './protocol.ts';
import { RecogniserPool, type RecogniserPoolOptions, refusedConnection } from './workers/pool.ts';
import { processPort } from './workers/port.ts';

/** The model that comes with the package. */
export const BUILT_IN_DICTATION = 'dictation-en';
/** A model is loaded in less than a second; on a busy machine it takes longer. */
const PROCESS_HANG_MS = 30_000;

/** Each takes 10 MB and 0.7 % of a core. */
const VOICE_STREAMS_MAX = 48;

export interface RecogniserOptions extends Omit<RecogniserPoolOptions, 'open' | 'hangMs' | 'workerStreamsMax'> {
  /** Streams of one speech model at a time, as `streamsMax`. */
  dictationStreamsMax: number;
  /** Utterances of one speech model that are decoded at a time: each takes a core. */
  dictationSlots: number;
  /** Speech models of the operator's own, by name. */
  models?: ReadonlyMap<string, SpeechModel>;
  clock?: Clock;
}

export class Recogniser implements Engine {
  readonly #options: RecogniserOptions;
  readonly #grammars: RecogniserPool;
  /** By model, from its first stream on. */
  readonly #dictations = new Map<string, RecogniserPool>();
  /** From the first stream of voices on. */
  #voices: RecogniserPool | undefined;

  constructor(options: RecogniserOptions) {
    this.#options = options;
    this.#grammars = new RecogniserPool(options);
  }

  /** Streams open now. */
  get streams(): number {
    return this.#sum(({ streams }) => streams);
  }

  /** Audio taken and not yet decoded, of all streams. */
  get queuedBytes(): number {
    return this.#sum(({ queuedBytes }) => queuedBytes);
  }

  /** See `RecogniserPool`. */
  get slowed(): number {
    return this.#sum(({ slowed }) => slowed);
  }

  connect(query: Readonly<Record<string, unknown>>, listener: EngineListener, owner?: string): EngineConnection {
    const pool = this.#poolOf(query);
    if (pool !== undefined) return pool.connect(query, listener, owner);
    return refusedConnection(listener, 'model_unavailable', 'This node does not have the speech model.');
  }

  /** A speech model is loaded ahead of its first stream; threads of grammars start in 0.2 s. */
  keepReady(model: string): () => void {
    return this.#dictationOf(model)?.keepReady() ?? (() => {});
  }

  check(query: Readonly<Record<string, unknown>>, owner?: string): Promise<QueryFault | undefined> {
    // Of dictation and voices there is nothing to check.
    return (this.#poolOf(query) ?? this.#grammars).check(query, owner);
  }

  /** Ends all threads and processes, and resolves when they are gone. */
  async close(): Promise<void> {
    await Promise.all(this.#pools().map((pool) => pool.close()));
  }

  /** Undefined where it is for a model that is not here: another node may have it. */
  #poolOf(query: Readonly<Record<string, unknown>>): RecogniserPool | undefined {
    const task = readQuery(query)?.task;
    if (task?.kind === 'voice') {
      this.#voices ??= this.#openVoices();
      return this.#voices;
    }
    return task?.kind === 'dictation' ? this.#dictationOf(task.model) : this.#grammars;
  }

  #dictationOf(model: string): RecogniserPool | undefined {
    const known = this.#dictations.get(model);
    if (known !== undefined) return known;
    const settings = this.#settingsOf(model);
    if (settings === undefined) return undefined;
    const pool = this.#openDictation(settings);
    this.#dictations.set(model, pool);
    return pool;
  }

  #settingsOf(name: string): WorkerSettings | undefined {
    const { models, dictationSlots: slots } = this.#options;
    const builtIn = builtInModel(fileURLToPath(speechModelsFolder()));
    const own = models?.get(name);
    if (own !== undefined) return { ...builtIn, model: own, slots };
    return name === BUILT_IN_DICTATION ? { ...builtIn, slots } : undefined;
  }

  #openDictation(settings: WorkerSettings): RecogniserPool {
    const { cpuSecondsPerMinutePerOrganisationMax: _, ...options } = this.#options;
    return new RecogniserPool({
      ...options,
      open: processPort({
        file: () => workerFile(import.meta.url, 'dictation/worker'),
        argument: JSON.stringify(settings),
        // Beside the decodes, the pool of threads serves what else there is to wait for.
        env: { UV_THREADPOOL_SIZE: String(settings.slots + 2) },
      }),
      workers: 1,
      streamsMax: options.dictationStreamsMax,
      hangMs: PROCESS_HANG_MS,
    });
  }

  #openVoices(): RecogniserPool {
    const { cpuSecondsPerMinutePerOrganisationMax: _, ...options } = this.#options;
    const { voiceModel } = builtInModel(fileURLToPath(speechModelsFolder()));
    return new RecogniserPool({
      ...options,
      open: processPort({ file: () => workerFile(import.meta.url, 'voice/worker'), argument: voiceModel }),
      workers: 1,
      streamsMax: VOICE_STREAMS_MAX,
      hangMs: PROCESS_HANG_MS,
    });
  }

  #pools(): RecogniserPool[] {
    return [this.#grammars, ...this.#dictations.values(), ...(this.#voices === undefined ? [] : [this.#voices])];
  }

  #sum(of: (pool: RecogniserPool) => number): number {
    return this.#pools().reduce((sum, pool) => sum + of(pool), 0);
  }
}
