// The microphone of a browser as a source of 16-bit samples. It keeps the rate that the device has: the gateway resamples. What
// runs in the audio thread is microphone-processor.ts.

import { type ClientErrorCode, MicrophoneError, VoxgateError } from '../errors.ts';
import { installProcessor, PROCESSOR_NAME } from './microphone-processor.ts';
import type { MediaStream, WebAudio, WorkletNode } from './web-audio.ts';

/** Audio that may wait to be read, while a connection is replaced, say. More ends the microphone with `microphone_queue_full`. */
const WAITING_SECONDS_MAX = 60;

export interface MicrophoneOptions {
  /** Of `navigator.mediaDevices.enumerateDevices()`. */
  deviceId?: string;
  /** Audio constraints beside the defaults: one channel, echo cancellation, noise suppression, automatic gain. */
  constraints?: Readonly<Record<string, unknown>>;
  /** Milliseconds of audio in a piece: 50 when absent. */
  pieceMs?: number;
  /** Called with every piece's level, from 0 to 1: the root mean square. */
  onLevel?: (level: number) => void;
  /**
   * Where `microphone-worklet.js` of this package is served, for pages whose Content-Security-Policy has no `blob:` in
   * `script-src`. Without it the code comes along inside this module.
   */
  workletUrl?: string | URL;
}

/** An open microphone. Iterate it once, or give it to `session.pipe`; `stop` lets go of the device. */
export interface Microphone extends AsyncIterable<Uint8Array> {
  /** Hertz of its samples: give it to `client.listen`. */
  readonly sampleRate: number;
  /** Ends it: what was recorded so far can still be read. */
  stop(): Promise<void>;
}

/** Rejects with a MicrophoneError: `microphone_denied`, `_missing`, `_busy` or `_unsupported`. */
export async function openMicrophone(options: MicrophoneOptions): Promise<Microphone> {
  const browser = globalThis as unknown as WebAudio;
  const devices = browser.navigator?.mediaDevices;
  if (devices?.getUserMedia === undefined || browser.AudioWorkletNode === undefined) {
    throw new MicrophoneError('There is no microphone here: it takes a browser, and a page that came by https.', {
      code: 'microphone_unsupported',
    });
  }
  const { deviceId, constraints } = options;
  const audio = {
    channelCount: 1,
    echoCancellation: true,
    noiseSuppression: true,
    autoGainControl: true,
    ...(deviceId === undefined ? {} : { deviceId: { exact: deviceId } }),
    ...constraints,
  };
  const stream = await devices.getUserMedia({ audio }).catch((cause: unknown) => {
    throw refusalOf(cause);
  });
  const context = new browser.AudioContext({ latencyHint: 'interactive' });
  try {
    await addProcessor(browser, context, options.workletUrl);
    // A page that was not touched yet may not play or record.
    await context.resume();
    const source = context.createMediaStreamSource(stream);
    const node = new browser.AudioWorkletNode(context, PROCESSOR_NAME, {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: 'explicit',
      processorOptions: { pieceMs: options.pieceMs ?? 50 },
    });
    source.connect(node);
    return new OpenMicrophone(stream, context, node, options.onLevel);
  } catch (error) {
    letGo(stream);
    await context.close();
    throw error instanceof VoxgateError ? error : refusalOf(error);
  }
}

async function addProcessor(browser: WebAudio, context: InstanceType<WebAudio['AudioContext']>, url?: string | URL) {
  if (url !== undefined) return context.audioWorklet.addModule(String(url));
  const code = new Blob([`(${installProcessor})(${JSON.stringify(PROCESSOR_NAME)});`], { type: 'text/javascript' });
  const blobUrl = browser.URL.createObjectURL(code);
  try {
    await context.audioWorklet.addModule(blobUrl);
  } catch (cause) {
    throw new MicrophoneError(
      'The page’s Content-Security-Policy does not let the recorder in: allow `blob:` in `script-src`, or serve the file and give `workletUrl`.',
      { code: 'microphone_unsupported', cause },
    );
  } finally {
    browser.URL.revokeObjectURL(blobUrl);
  }
}

const letGo = (stream: MediaStream): void => {
  for (const track of stream.getTracks()) track.stop();
};

const REFUSALS: Readonly<Record<string, readonly [code: ClientErrorCode, message: string]>> = {
  NotAllowedError: ['microphone_denied', 'The microphone may not be used: the person or the page’s policy said no.'],
  SecurityError: ['microphone_denied', 'The page’s policy does not allow the microphone.'],
  NotFoundError: ['microphone_missing', 'There is no microphone.'],
  OverconstrainedError: ['microphone_missing', 'No microphone fits the device id or the constraints.'],
  NotReadableError: ['microphone_busy', 'The microphone cannot be used: another program may have it.'],
  AbortError: ['microphone_busy', 'The microphone cannot be read.'],
};

function refusalOf(cause: unknown): MicrophoneError {
  const name = cause instanceof Error || cause instanceof DOMException ? cause.name : '';
  const [code, message] = REFUSALS[name] ?? ['microphone_unsupported', 'The microphone could not be opened.'];
  return new MicrophoneError(message, { code, cause });
}

class OpenMicrophone implements Microphone {
  readonly sampleRate: number;
  readonly #stream: MediaStream;
  readonly #context: InstanceType<WebAudio['AudioContext']>;
  readonly #node: WorkletNode;
  readonly #bytesMax: number;
  readonly #stopped: Promise<void>;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #isOver = false;
  #error: MicrophoneError | undefined;
  #wake = () => {};

  constructor(
    stream: MediaStream,
    context: InstanceType<WebAudio['AudioContext']>,
    node: WorkletNode,
    onLevel: MicrophoneOptions['onLevel'],
  ) {
    this.#stream = stream;
    this.#context = context;
    this.#node = node;
    this.sampleRate = context.sampleRate;
    this.#bytesMax = WAITING_SECONDS_MAX * 2 * context.sampleRate;
    this.#stopped = new Promise((resolve) => {
      node.port.onmessage = ({ data }) => {
        if (data.samples !== undefined) this.#take(new Uint8Array(data.samples));
        if (data.level !== undefined) onLevel?.(data.level);
        if (data.isLast) resolve();
      };
    });
    // The device was unplugged, or the permission taken away.
    for (const track of stream.getTracks()) track.addEventListener('ended', () => void this.stop());
  }

  async stop(): Promise<void> {
    this.#node.port.postMessage('stop');
    letGo(this.#stream);
    await this.#stopped;
    if (this.#isOver) return;
    this.#over();
    await this.#context.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.#waiting.shift();
        if (piece !== undefined) {
          this.#bytes -= piece.length;
          yield piece;
        } else if (this.#error !== undefined) throw this.#error;
        else if (this.#isOver) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      await this.stop();
    }
  }

  #take(piece: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#bytes + piece.length > this.#bytesMax) {
      this.#error = new MicrophoneError(`${WAITING_SECONDS_MAX} s of audio wait, and nobody reads them.`, {
        code: 'microphone_queue_full',
      });
      void this.stop();
      this.#wake();
      return;
    }
    this.#bytes += piece.length;
    this.#waiting.push(piece);
    this.#wake();
  }

  #over(): void {
    this.#isOver = true;
    this.#wake();
  }
}
