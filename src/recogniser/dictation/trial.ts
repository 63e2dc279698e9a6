// A speech model, tried: opened in a process of its own as the gateway does, and made to hear a recording. What goes wrong is one sentence,
// also where native code ends the process.
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../machines/clock.ts';
import type { Mode } from '../../api/models.ts';
import { speechModelsFolder, workerFile } from '../../runtime/telemetry/worker-file.ts';
import type { LocalModel } from '../../vendors/local/own-model.ts';
import { PIECE_BYTES, SAMPLE_RATE, type StreamMessage, type WorkerReply } from '../protocol.ts';
import { type Port, processPort } from '../workers/port.ts';
import { builtInModel } from './model.ts';

const BYTES_PER_SECOND = 2 * SAMPLE_RATE;
/** A live stream is sent in pieces of so many bytes, as they are spoken: 100 ms. */
const LIVE_BYTES = BYTES_PER_SECOND / 10;
/** It takes as long as its audio, and more of it says no more. */
const LIVE_SECONDS_MAX = 6;
/** A model that sends nothing for so long is stuck. */
const PATIENCE_MS = 120_000;

interface TrialOptions {
  /** Linear16 at 16 kHz. */
  audio: Uint8Array;
  modes: readonly Mode[];
  clock: Clock;
}

export interface Trial {
  loadMs: number;
  audioSeconds: number;
  /** The most that the process has had. */
  memoryBytes: number | undefined;
  text: string;
  /** By mode. A file is heard at once, and a live stream as it is spoken: its finals come so long after the voice has ended, at most. */
  file?: { realTimeFactor: number };
  live?: { interims: number; finalMsMax: number | undefined };
}

/** @throws Error with what went wrong, without a full stop at its end */
export async function tryModel(
  { model, languages }: LocalModel,
  { audio, modes, clock }: TrialOptions,
): Promise<Trial> {
  const trial = new TrialProcess(
    JSON.stringify({ ...builtInModel(fileURLToPath(speechModelsFolder())), model, slots: 1 }),
    clock,
  );
  try {
    const startMs = clock.now();
    const loading = trial.open(1, { language: languages[0] });
    await loading.ready;
    const loadMs = clock.now() - startMs;
    trial.drop(1);
    const file = modes.includes('batch') ? await heardAtOnce(trial, audio, clock) : undefined;
    const live = modes.includes('live')
      ? await heardLive(trial, audio.subarray(0, LIVE_SECONDS_MAX * BYTES_PER_SECOND), clock)
      : undefined;
    const heard = file ?? live;
    return {
      loadMs,
      audioSeconds: audio.byteLength / BYTES_PER_SECOND,
      memoryBytes: heard?.memoryBytes,
      text: heard?.text ?? '',
      ...(file === undefined
        ? {}
        : { file: { realTimeFactor: file.tookMs / 1000 / (audio.byteLength / BYTES_PER_SECOND) } }),
      ...(live === undefined ? {} : { live: { interims: live.interims, finalMsMax: live.finalMsMax } }),
    };
  } finally {
    await trial.close();
  }
}

interface Heard {
  text: string;
  interims: number;
  tookMs: number;
  finalMsMax: number | undefined;
  memoryBytes: number | undefined;
}

async function heardAtOnce(trial: TrialProcess, audio: Uint8Array, clock: Clock): Promise<Heard> {
  const stream = trial.open(2);
  const startMs = clock.now();
  for (let at = 0; at < audio.byteLength; at += PIECE_BYTES) await stream.audio(audio.subarray(at, at + PIECE_BYTES));
  return endOf(stream, startMs, clock);
}

async function heardLive(trial: TrialProcess, audio: Uint8Array, clock: Clock): Promise<Heard> {
  const stream = trial.open(3, { interims: true });
  const startMs = clock.now();
  for (let at = 0; at < audio.byteLength; at += LIVE_BYTES) {
    await stream.audio(audio.subarray(at, at + LIVE_BYTES));
    const dueMs = startMs + ((at + LIVE_BYTES) * 1000) / BYTES_PER_SECOND;
    await new Promise<void>((resolve) => clock.setTimeout(resolve, Math.max(0, dueMs - clock.now())));
  }
  return endOf(stream, startMs, clock);
}

async function endOf(stream: TrialStream, startMs: number, clock: Clock): Promise<Heard> {
  const memoryBytes = await stream.finish();
  const finals = stream.messages.flatMap(({ message, atMs }) =>
    message.type === 'final' ? [{ ...message, atMs }] : [],
  );
  const delaysMs = finals.map(({ end, atMs }) => atMs - startMs - end * 1000);
  return {
    text: finals.map(({ text }) => text).join(' '),
    interims: stream.messages.filter(({ message }) => message.type === 'interim').length,
    tookMs: clock.now() - startMs,
    finalMsMax: delaysMs.length === 0 ? undefined : Math.max(...delaysMs),
    memoryBytes,
  };
}

interface Received {
  message: StreamMessage;
  atMs: number;
}

interface TrialStream {
  readonly messages: Received[];
  readonly ready: Promise<void>;
  /** Resolves when the process has taken it. */
  audio(bytes: Uint8Array): Promise<void>;
  /** Resolves with the memory of the process when all is said. */
  finish(): Promise<number | undefined>;
}

interface Waiter {
  isMet(reply: WorkerReply): boolean;
  resolve(reply: WorkerReply): void;
  reject(error: Error): void;
}

/** The process, whose failure ends every wait. */
class TrialProcess {
  readonly #port: Port;
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter>();
  readonly #messages = new Map<number, Received[]>();
  readonly #held = new Set<number>();
  #failure: Error | undefined;
  #timer: unknown;

  constructor(argument: string, clock: Clock) {
    this.#clock = clock;
    const open = processPort({ file: () => workerFile(import.meta.url, 'worker'), argument });
    this.#port = open({ reply: (reply) => this.#hear(reply), failed: (error) => this.#fail(error) });
    this.#patient();
  }

  open(
    id: number,
    { interims = false, language }: { interims?: boolean; language?: string | undefined } = {},
  ): TrialStream {
    const messages: Received[] = [];
    this.#messages.set(id, messages);
    const task = { kind: 'dictation', model: 'trial', endpointingMs: 500, language } as const;
    this.#port.post({ type: 'open', stream: id, query: { task, interims }, organisation: undefined });
    const ready = this.#until((reply) => reply.type === 'opened' && reply.stream === id).then(() => {});
    // What follows fails as well, and is what is waited for.
    ready.catch(() => {});
    return {
      messages,
      ready,
      audio: async (bytes) => {
        if (this.#held.has(id)) await this.#until(() => !this.#held.has(id));
        const taken = this.#until((reply) => reply.type === 'worked' && reply.stream === id);
        this.#port.post({ type: 'audio', stream: id, bytes: new Uint8Array(bytes) });
        await taken;
      },
      finish: async () => {
        const ended = this.#until((reply) => reply.type === 'ended' && reply.stream === id);
        this.#port.post({ type: 'command', stream: id, command: { type: 'finish' } });
        const reply = await ended;
        return reply.type === 'ended' ? reply.memoryBytes : undefined;
      },
    };
  }

  drop(id: number): void {
    this.#port.post({ type: 'drop', stream: id });
  }

  async close(): Promise<void> {
    this.#clock.clearTimeout(this.#timer);
    this.#failure ??= new Error('It is over');
    await this.#port.terminate();
  }

  #until(isMet: Waiter['isMet']): Promise<WorkerReply> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) reject(this.#failure);
      else this.#waiters.add({ isMet, resolve, reject });
    });
  }

  #hear(reply: WorkerReply): void {
    this.#patient();
    if (reply.type === 'said')
      this.#messages.get(reply.stream)?.push({ message: reply.message, atMs: this.#clock.now() });
    if (reply.type === 'held' && reply.held) this.#held.add(reply.stream);
    if (reply.type === 'held' && !reply.held) this.#held.delete(reply.stream);
    for (const waiter of [...this.#waiters].filter(({ isMet }) => isMet(reply))) {
      this.#waiters.delete(waiter);
      waiter.resolve(reply);
    }
  }

  #patient(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(
      () => this.#fail(new Error(`It sent nothing for ${PATIENCE_MS / 1000} s`)),
      PATIENCE_MS,
    );
  }

  #fail(error: Error): void {
    this.#clock.clearTimeout(this.#timer);
    if (this.#failure !== undefined) return;
    this.#failure = error;
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const { reject } of waiters) reject(error);
  }
}
