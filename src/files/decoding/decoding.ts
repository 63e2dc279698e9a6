// Files that are decoded now, each in a thread of its own: how many there may be, of all and of one organisation.

import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../machines/clock.ts';
import { LegFailed } from '../../live/upstream/leg-failures.ts';
import { Quota } from '../../runtime/limits/quota.ts';
import { workerFile } from '../../runtime/telemetry/worker-file.ts';
import { IdleTimer } from '../../runtime/timeouts.ts';
import { audioUnusable, decodersBusy, formatUnsupported } from '../failures.ts';
import type { FileSource } from '../file-source.ts';
import type { Decoded, DecodingStart, FromThread, ToThread } from './worker.ts';

/** A thread takes 10 to 20 MB, and its file as long as it is transcribed. */
const FILES_MAX = 16;
/** Of these one organisation's: a file that is sent slowly has its thread for as long. */
const ORGANISATION_SHARE = 3 / 4;

const FORMATS: readonly string[] = ['mp3', 'flac', 'ogg', 'webm'] satisfies Decoded[];

export interface FileDecodingsOptions {
  clock: Clock;
  /** Hears when a thread failed; the file is refused. */
  onFault?: (error: Error) => void;
  /** Hears of the name of an overflow. */
  onOverflow?: (name: string) => void;
}

export class FileDecodings {
  readonly #options: FileDecodingsOptions;
  readonly #open = new Set<Decoding>();
  readonly #quota = new Quota(FILES_MAX, ORGANISATION_SHARE);

  constructor(options: FileDecodingsOptions) {
    this.#options = options;
  }

  /** Files that are decoded. */
  get size(): number {
    return this.#open.size;
  }

  /** Begins with a container. Throws LegFailed where it is none that is decoded here, or there are too many. */
  open(file: FileSource, organisationId: string, signal: AbortSignal): Decoding {
    const { kind } = file;
    if (kind.kind === 'raw') throw new Error('Headerless samples need no decoder.');
    // One decoder knows all layers of MPEG.
    const format = kind.format === 'mp2' ? 'mp3' : kind.format;
    if (!isDecoded(format)) throw new LegFailed(formatUnsupported(kind.title));
    const shortage = this.#quota.take(organisationId);
    if (shortage !== undefined) {
      this.#options.onOverflow?.('decoded_files');
      throw new LegFailed(decodersBusy(shortage));
    }
    const decoding: Decoding = new Decoding({
      clock: this.#options.clock,
      format,
      title: kind.title,
      chunks: file.readUntagged(),
      signal,
      onEnd: () => {
        if (this.#open.delete(decoding)) this.#quota.giveBack(organisationId);
      },
      onFault: (error) => this.#options.onFault?.(error),
    });
    this.#open.add(decoding);
    return decoding;
  }

  close(): void {
    for (const decoding of [...this.#open]) decoding.close();
  }
}

const isDecoded = (format: string): format is Decoded => FORMATS.includes(format);

/** Handed over at a time. */
const BLOCK_BYTES = 64 * 1024;
/** Far more than a block takes: a thread that says nothing for so long hangs. */
const HANG_MS = 10_000;
/** A decoder and what is handed over; a file that needs more ends the thread, and not the process. */
const MEMORY_MB = 64;

interface DecodingOptions {
  clock: Clock;
  format: Decoded;
  /** What the client is told that the file is. */
  title: string;
  chunks: AsyncIterator<Uint8Array>;
  signal: AbortSignal;
  /** Called once. */
  onEnd(): void;
  /** Hears that the thread failed: it is the file that is to blame. */
  onFault(error: Error): void;
}

/**
 * One file that is decoded in a thread of its own, seen from outside: a block goes in or samples come out, one at a time, so no
 * more of it is in memory than that.
 */
class Decoding {
  readonly #options: DecodingOptions;
  readonly #worker: Worker;
  readonly #abort = () => this.close();
  /** What the thread has said and nobody has taken. */
  #said: FromThread | undefined;
  #fault: unknown;
  #wake: (() => void) | undefined;
  #block: Uint8Array = new Uint8Array(0);
  #isOver = false;
  /** Of the file's sound: known when the first of it is there. */
  sampleRate = 0;
  /** Some of the sound that the file once had is missing. */
  isDamaged = false;

  constructor(options: DecodingOptions) {
    this.#options = options;
    const workerData: DecodingStart = { format: options.format };
    // Flags of the process, such as loaders, are not for its threads.
    this.#worker = new Worker(workerFile(import.meta.url, 'worker'), {
      execArgv: [],
      name: 'decoding',
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    // It holds nobody up who wants to end.
    this.#worker.unref();
    this.#worker.on('message', (message: FromThread) => {
      this.#said = message;
      this.#wake?.();
    });
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', (code) => {
      if (this.#said === undefined) this.#fail(new Error(`It ended with code ${code}.`));
    });
    options.signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** The next samples, or undefined at the end. Throws LegFailed when the file cannot be decoded, and the signal's reason. */
  async next(): Promise<Int16Array | undefined> {
    const { title, chunks } = this.#options;
    for (;;) {
      const said = await this.#hear();
      if (said.type === 'needs') {
        this.#tell({ type: 'bytes', bytes: await this.#read(chunks) });
      } else if (said.type === 'samples') {
        this.sampleRate = said.sampleRate;
        this.#tell({ type: 'more' });
        return said.samples;
      } else {
        this.close();
        if (said.type === 'undecodable') throw new LegFailed(audioUnusable(title, said.why));
        this.isDamaged = said.isDamaged;
        return undefined;
      }
    }
  }

  /** Ends the thread, whatever it is at. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { signal, chunks, onEnd } = this.#options;
    signal.removeEventListener('abort', this.#abort);
    void this.#worker.terminate();
    // Not waited for: it may be in the middle of a read.
    chunks.return?.().catch(() => {});
    onEnd();
    this.#wake?.();
  }

  /** A block of the file, in memory of its own; undefined at its end. */
  async #read(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array<ArrayBuffer> | undefined> {
    while (this.#block.length === 0) {
      const next = await chunks.next();
      if (next.done === true) return undefined;
      this.#block = next.value;
    }
    const block = new Uint8Array(this.#block.subarray(0, BLOCK_BYTES));
    this.#block = this.#block.subarray(BLOCK_BYTES);
    return block;
  }

  #tell(message: ToThread): void {
    if (this.#isOver) return;
    const isHandedOver = message.type === 'bytes' && message.bytes !== undefined;
    this.#worker.postMessage(message, isHandedOver ? [message.bytes!.buffer] : []);
  }

  async #hear(): Promise<FromThread> {
    const { clock, signal, title } = this.#options;
    const hang = new IdleTimer(
      clock,
      HANG_MS,
      () => this.#fail(new Error(`It said nothing for ${HANG_MS / 1000} s.`)),
      {
        outlastsFreeze: true,
      },
    );
    try {
      for (;;) {
        signal.throwIfAborted();
        if (this.#fault !== undefined) throw new LegFailed(audioUnusable(title, 'it is damaged'));
        if (this.#isOver) throw new Error('The decoding was closed.');
        const said = this.#said;
        this.#said = undefined;
        if (said !== undefined) return said;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      hang.stop();
    }
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#fault = error;
    this.#options.onFault(new Error(`The thread that decodes a file failed. ${error.message}`));
    this.close();
  }
}
