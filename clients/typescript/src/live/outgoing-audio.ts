// Audio and marks on their way to the gateway: sent as fast as the socket takes them and no further beyond the last final than is
// kept, and sent again from there on a new connection. Knows bytes and positions only.
import { VoxgateError } from '../errors.ts';
import { CHANGES_MAX, type ConfigureMessage, tooManyChanges } from './configure-options.ts';
import { AudioTape } from './tape.ts';

/** Unsent bytes from which `send` waits. */
export const ROOM_BYTES = 262_144;
/** Bytes of calls that wait for room: more is piled up by callers who do not wait. */
export const UNSENT_BYTES_MAX = 16_777_216;
const FRAME_BYTES = 65_536;
/** A WebSocket does not tell when it has room again: it is polled at this interval while a send waits. */
const ASK_AGAIN_MS = 10;
/**
 * Speech at the pace at which it is spoken, and a little more, so that a clock that runs slow does not fall behind; not so much
 * that the gateway suspects a wrong sample rate, which it does from a fifth more on.
 */
const PACE = 1.15;
/** A recording that is sent faster than it is spoken waits so long for a final that is late before anything of it is kept no longer. */
const FINAL_WAIT_MS = 10_000;
/** Seconds by which a source may be ahead of that pace, and seconds of the smallest piece that is worth a frame. */
const PACE_AHEAD_SECONDS = 1;
const PACE_PIECE_SECONDS = 0.05;

/** As much of a connection as is needed here. */
export interface AudioLine {
  readonly bufferedAmount: number;
  send(data: Uint8Array<ArrayBuffer> | object): void;
}

export interface OutgoingAudioOptions {
  sampleRate: number;
  bytesPerSample: number;
  replaySecondsMax: number;
}

/** What is said at a place in the audio. */
interface Mark {
  at: number;
  message: { type: 'finalize' } | ConfigureMessage;
}

interface Waiter {
  bytes: number;
  resolve(): void;
  reject(error: unknown): void;
}

export class OutgoingAudio {
  readonly #options: OutgoingAudioOptions;
  readonly #tape = new AudioTape();
  readonly #bytesPerSecond: number;
  readonly #replayBytesMax: number;
  #line: AudioLine | undefined;
  #frameBytes = FRAME_BYTES;
  /** Position of the first byte that the current connection was not given. */
  #sent = 0;
  /** Up to where any connection was given bytes. */
  #sentMost = 0;
  /** Position up to which finals cover it. */
  #covered = 0;
  /** Position from which the current connection was sent audio. */
  #origin = 0;
  /** Position up to which it may be sent. */
  #limit = 0;
  /** Up to when the pace has given what it allows; in the future while a final is waited for. */
  #pacedAtMs = 0;
  /** Ends of turns and changes of the session in their places, those that a final covers left out. */
  #marks: Mark[] = [];
  /** Changes whose place a final covers: another session begins with them. */
  #changes: ConfigureMessage[] = [];
  #changesAsked = 0;
  #marksSent = 0;
  #isClosing = false;
  #isCloseSent = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waiters: Waiter[] = [];
  #waitingBytes = 0;
  #over: { error: unknown } | undefined;

  constructor(options: OutgoingAudioOptions) {
    this.#options = options;
    this.#bytesPerSecond = options.sampleRate * options.bytesPerSample;
    this.#replayBytesMax = options.replaySecondsMax * this.#bytesPerSecond;
  }

  /** Seconds of audio that were given. */
  get seconds(): number {
    const samples = Math.floor(this.#tape.end / this.#options.bytesPerSample);
    return Math.round((samples / this.#options.sampleRate) * 1e6) / 1e6;
  }

  /** Milliseconds of audio that was given and has no final. */
  get pendingMs(): number {
    return ((this.#tape.end - this.#covered) / this.#bytesPerSecond) * 1_000;
  }

  get isClosed(): boolean {
    return this.#isClosing;
  }

  /** Whether every whole sample has its final. */
  get isCovered(): boolean {
    return this.#tape.end - this.#covered < this.#options.bytesPerSample;
  }

  /** Resolves when there is room for more. Throws where others wait for room already, and the bound is reached. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#waiters.length > 0 && this.#waitingBytes + bytes.length > UNSENT_BYTES_MAX) {
      throw new VoxgateError(
        `More than ${UNSENT_BYTES_MAX} bytes wait to be sent. Await what \`send\` returns before you send more.`,
        { code: 'send_queue_full' },
      );
    }
    this.#tape.append(bytes);
    this.pump();
    if (this.#isRoomy()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ bytes: bytes.length, resolve, reject });
      this.#waitingBytes += bytes.length;
      this.#askAgain();
    });
  }

  /** Ends the turn behind what was written so far. */
  mark(): void {
    const { at, message } = this.#marks.at(-1) ?? {};
    const isThere = at === this.#tape.end && message?.type === 'finalize' && this.#marksSent < this.#marks.length;
    if (!isThere) this.#marks.push({ at: this.#tape.end, message: { type: 'finalize' } });
    this.pump();
  }

  /** Changes the session from here on. */
  change(message: ConfigureMessage): void {
    if (this.#changesAsked >= CHANGES_MAX) throw tooManyChanges();
    this.#changesAsked++;
    this.#marks.push({ at: this.#tape.end, message });
    this.pump();
  }

  keepalive(): void {
    this.#line?.send({ type: 'keepalive' });
  }

  /** No more audio. */
  close(): void {
    this.#isClosing = true;
    this.pump();
  }

  /** A new session is there: it is changed as the last one was, and sent everything from `coveredSample` on that is still kept. */
  connect(line: AudioLine, frameBytesMax: number, coveredSample: number) {
    const { bytesPerSample } = this.#options;
    const originSample = Math.max(coveredSample, Math.ceil(this.#tape.start / bytesPerSample));
    this.#line = line;
    this.#frameBytes = Math.min(FRAME_BYTES, frameBytesMax);
    this.#sent = originSample * bytesPerSample;
    this.#origin = this.#sent;
    this.#limit = this.#sent;
    this.#pacedAtMs = performance.now();
    this.#marksSent = 0;
    this.#isCloseSent = false;
    // As marks of this session, of which none is known to be taken.
    const rest = this.#marks.map(({ at, message }) => ({ at: Math.max(at, this.#origin), message }));
    this.#marks = [...this.#changes.splice(0).map((message) => ({ at: this.#origin, message })), ...rest];
    return { originSample, replayedSamples: Math.floor(Math.max(0, this.#sentMost - this.#sent) / bytesPerSample) };
  }

  /**
   * A connection goes on with the session of the last one, which took so many bytes: they are not sent again. False where what
   * follows them is kept no longer; then nothing is sent.
   */
  resume(line: AudioLine, receivedBytes: number): boolean {
    const from = this.#origin + receivedBytes;
    if (from < this.#tape.start || from > this.#tape.end) return false;
    this.#line = line;
    this.#sent = from;
    this.#limit = from;
    this.#pacedAtMs = performance.now();
    // Whether a mark right here was taken is not known. Both kinds can be said again: a turn that is over ends no second time.
    this.#marksSent = this.#marks.filter(({ at }) => at < from).length;
    this.#isCloseSent = false;
    return true;
  }

  disconnect(): void {
    this.#line = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** A final covers everything before a sample. */
  covered(sample: number): void {
    const to = Math.min(sample * this.#options.bytesPerSample, this.#sent);
    this.#covered = Math.max(this.#covered, to);
    this.#tape.trim(to);
    // A change right here may not have been taken: what was heard lies in front of it.
    const isDone = ({ at, message }: Mark) => at < to || (at === to && message.type === 'finalize');
    const sent = this.#marks.splice(0, this.#marksSent);
    for (const mark of sent) if (isDone(mark) && mark.message.type === 'configure') this.#changes.push(mark.message);
    const rest = sent.filter((mark) => !isDone(mark));
    this.#marks.unshift(...rest);
    this.#marksSent = rest.length;
    this.pump();
  }

  /** Nothing more is sent. */
  end(error: unknown): void {
    this.disconnect();
    this.#over = { error };
    for (const waiter of this.#waiting()) this.#settle(waiter);
  }

  /** Sends what the socket has room for. */
  pump(): void {
    const line = this.#line;
    if (line === undefined) return;
    this.#allow();
    while (line.bufferedAmount <= ROOM_BYTES && this.#sendNext(line));
    this.#sentMost = Math.max(this.#sentMost, this.#sent);
    this.#forget();
    if (this.#isRoomy()) for (const waiter of this.#waiting()) waiter.resolve();
    this.#askAgain();
  }

  /** Polls while a send waits for room. Without a connection there is no socket to poll: the next connection pumps. */
  #askAgain(): void {
    const isWaiting = this.#waiters.length > 0 || this.#sent < this.#tape.end;
    if (!isWaiting || this.#timer !== undefined || this.#line === undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.pump();
    }, ASK_AGAIN_MS);
  }

  /** False where there is nothing to send. */
  #sendNext(line: AudioLine): boolean {
    const mark = this.#marks[this.#marksSent];
    if (mark !== undefined && mark.at <= this.#sent) {
      this.#marksSent++;
      line.send(mark.message);
      return true;
    }
    const unsent = (mark?.at ?? this.#tape.end) - this.#sent;
    if (unsent > 0) {
      const allowed = this.#limit - this.#sent;
      if (allowed < Math.min(unsent, PACE_PIECE_SECONDS * this.#bytesPerSecond)) return false;
      const frame = this.#tape.read(this.#sent, Math.min(this.#frameBytes, unsent, allowed));
      line.send(frame);
      this.#sent += frame.length;
      return true;
    }
    if (!this.#isClosing || this.#isCloseSent) return false;
    this.#isCloseSent = true;
    line.send({ type: 'close' });
    return true;
  }

  /**
   * How far it may be sent: so far beyond the last final as is kept, so that all of it can be sent again. Where that is used up, as
   * in a long silence, it goes on at the pace of speech, and what is oldest is kept no longer.
   */
  #allow(): void {
    const nowMs = performance.now();
    const aheadBytes = PACE_AHEAD_SECONDS * this.#bytesPerSecond;
    const kept = Math.max(this.#covered, this.#origin) + this.#replayBytesMax;
    if (this.#replayBytesMax === 0) this.#limit = Infinity;
    else if (this.#sent < kept) {
      this.#limit = kept;
      const isRecording = this.#tape.end - kept > aheadBytes;
      this.#pacedAtMs = nowMs + (isRecording ? FINAL_WAIT_MS : 0);
    } else if (nowMs > this.#pacedAtMs) {
      const paced = PACE * ((nowMs - this.#pacedAtMs) / 1_000) * this.#bytesPerSecond;
      this.#limit = Math.floor(Math.min(Math.max(this.#limit, this.#sent) + paced, this.#sent + aheadBytes));
      this.#pacedAtMs = nowMs;
    }
  }

  /** Keeps no more of what was sent than may be sent again. */
  #forget(): void {
    const { bytesPerSample } = this.#options;
    const oldest = this.#sent - this.#replayBytesMax;
    this.#tape.trim(oldest - (oldest % bytesPerSample));
  }

  #isRoomy(): boolean {
    return this.#tape.end - this.#sent + (this.#line?.bufferedAmount ?? 0) <= ROOM_BYTES;
  }

  #waiting(): Waiter[] {
    this.#waitingBytes = 0;
    return this.#waiters.splice(0);
  }

  #settle({ resolve, reject }: Waiter): void {
    if (this.#over?.error === undefined) resolve();
    else reject(this.#over.error);
  }
}
