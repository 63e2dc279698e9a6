// The ears of one connection: how much they have heard, what happens at which position, and the faults of what is heard.
// Faults of frames are those of saying.ts.
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import type { Ear, EarMessage, EarRequest } from '../kit/simulation.ts';
import type { OpenEar } from './ears.ts';
import type { FaultName, Faults } from './faults.ts';
import { inventedFinal } from './invented-text.ts';

/** Something that happens once so much audio was heard. Calls come after the ear's call has returned. */
export interface Mark {
  seconds: number;
  /** Audio beyond it is not heard: the connection is as good as over. */
  deafens: boolean;
  reached(): void;
}

export interface HearingOptions {
  openEar: OpenEar;
  faults: Faults;
  marks: readonly Mark[];
  onPlayed: (fault: FaultName) => void;
  /** The client ends its audio. */
  finishing: () => void;
  /** Where a fault of the simulator itself goes. */
  guarded: (work: () => void) => void;
  /** Passes on a message about a turn. `turn` differs from that of every other turn of the connection. */
  duringTurn: (turn: number, pass: () => void) => void;
  /** Calls back when every final that is still to come was said. */
  whenFinalsAreOut: (work: () => void) => void;
}

/** Turns of one ear, at most: they number those of the next from there on. */
const TURNS_OF_AN_EAR = 1_000_000;
const WRONG_WORD = 'erm';
/** Far less than a sample: what sums of seconds are rounded by must neither miss a mark nor wait for one more sample. */
const ROUNDING_SECONDS = 1e-9;

export class Hearing {
  readonly #options: HearingOptions;
  /** Those not reached yet, the next one first. */
  readonly #marks: Mark[];
  readonly #ears = new Set<Ear>();
  #opened = 0;
  #seconds = 0;
  #deaf = false;
  #finishing = false;
  #finals = 0;
  #interims = 0;
  #invented = 0;

  constructor(options: HearingOptions) {
    this.#options = options;
    this.#marks = [...options.marks].sort((a, b) => a.seconds - b.seconds);
  }

  /** Seconds of audio heard so far. */
  get seconds(): number {
    return this.#seconds;
  }

  /** The client has ended its audio. */
  get finishing(): boolean {
    return this.#finishing;
  }

  /** Reaches the marks at 0. */
  begin(): void {
    this.#reachMarks();
  }

  open(request: EarRequest, listener: (message: EarMessage) => void): Ear {
    if (!(request.sampleRate > 0)) throw new RangeError(`An ear cannot hear ${request.sampleRate} samples a second.`);
    const firstTurn = this.#opened * TURNS_OF_AN_EAR;
    this.#opened++;
    const beganAt = this.#seconds;
    const times = new RestartedTimes();
    const start = new EmptyStart(this.#options.faults['empty-start'], (message) => {
      this.#options.onPlayed('empty-start');
      this.#tell(this.#changed(message, times), firstTurn, listener);
    });
    const ear = this.#options.openEar(request, (message) => {
      const changed = this.#changed(start.behind(message), times);
      this.#tell(changed, firstTurn, listener);
    });
    this.#ears.add(ear);
    let heardBytes = 0;
    return {
      audio: (bytes) => {
        let at = 0;
        while (at < bytes.length && !this.#deaf) {
          // Exactly as far as the next mark, however the audio is cut.
          const markSeconds = this.#nextMarkSeconds - beganAt - ROUNDING_SECONDS;
          const markBytes = Math.ceil(markSeconds * request.sampleRate) * BYTES_PER_SAMPLE;
          const count = Math.min(bytes.length - at, markBytes - heardBytes);
          ear.audio(count === bytes.length ? bytes : bytes.subarray(at, at + count));
          at += count;
          heardBytes += count;
          this.#seconds = beganAt + Math.floor(heardBytes / BYTES_PER_SAMPLE) / request.sampleRate;
          start.heard(this.#seconds - beganAt);
          this.#reachMarks();
        }
      },
      // Of audio that was not heard no end is told: it would be one in order.
      finalize: () => {
        if (!this.#deaf) ear.finalize();
      },
      finish: () => {
        if (this.#deaf) return;
        this.#finishing = true;
        this.#options.finishing();
        ear.finish();
      },
      close: () => {
        this.#ears.delete(ear);
        ear.close();
      },
    };
  }

  /** Closes what the simulator left open. */
  close(): void {
    for (const ear of this.#ears) ear.close();
    this.#ears.clear();
  }

  get #nextMarkSeconds(): number {
    return this.#marks[0]?.seconds ?? Number.POSITIVE_INFINITY;
  }

  #reachMarks(): void {
    while (this.#nextMarkSeconds <= this.#seconds + ROUNDING_SECONDS && !this.#deaf) {
      const mark = this.#marks.shift() as Mark;
      this.#deaf = mark.deafens;
      // What the audio up to here gave is said first.
      queueMicrotask(() => this.#options.guarded(mark.reached));
    }
  }

  #tell(message: EarMessage, firstTurn: number, listener: (message: EarMessage) => void): void {
    const { guarded, faults, onPlayed, duringTurn, whenFinalsAreOut } = this.#options;
    if (message.type === 'finished') {
      if (faults['slow-close'] === undefined) whenFinalsAreOut(() => guarded(() => listener(message)));
      else onPlayed('slow-close');
      return;
    }
    const pass = (): void => guarded(() => listener(message));
    if ('turn' in message) duringTurn(firstTurn + message.turn, pass);
    else pass();
  }

  #changed(heard: EarMessage, times: RestartedTimes): EarMessage {
    const { faults, onPlayed } = this.#options;
    let message = heard;
    if (faults['restart-times'] === true) {
      message = times.restarted(message);
      onPlayed('restart-times');
    }
    if (message.type === 'no_match' && faults['invented-text'] === true) {
      message = inventedFinal(message, this.#invented++);
      onPlayed('invented-text');
    }
    const everyNth = faults['empty-finals'];
    if (message.type === 'final' && everyNth !== undefined) {
      this.#finals++;
      if (this.#finals % everyNth === 0) {
        message = { ...message, text: '', words: [] };
        onPlayed('empty-finals');
      }
    }
    if (message.type === 'interim' && faults['revised-interims'] === true) {
      this.#interims++;
      if (this.#interims % 2 === 1) {
        const { words: _, ...interim } = message;
        message = { ...interim, text: message.text.replace(/^\S+/, WRONG_WORD) };
        onPlayed('revised-interims');
      }
    }
    return message;
  }
}

/** Turns without words, as long as an ear has heard nothing; its own are numbered behind them. */
class EmptyStart {
  readonly #everySeconds: number;
  readonly #tell: (message: EarMessage) => void;
  #turns = 0;
  #isOver = false;

  constructor(everyMs: number | undefined, tell: (message: EarMessage) => void) {
    this.#everySeconds = (everyMs ?? Number.POSITIVE_INFINITY) / 1_000;
    this.#tell = tell;
  }

  /** What the ear says of the audio up to here is said first. */
  heard(seconds: number): void {
    if (!this.#isOver && seconds >= (this.#turns + 1) * this.#everySeconds) queueMicrotask(() => this.#pass(seconds));
  }

  behind(message: EarMessage): EarMessage {
    if (message.type !== 'ready') this.#isOver = true;
    return 'turn' in message ? { ...message, turn: message.turn + this.#turns } : message;
  }

  #pass(seconds: number): void {
    while (!this.#isOver && seconds >= (this.#turns + 1) * this.#everySeconds) {
      const start = this.#turns * this.#everySeconds;
      this.#tell({ type: 'no_match', turn: this.#turns++, start, end: start + this.#everySeconds });
    }
  }
}

/** Takes the beginning of its turn off every time. */
class RestartedTimes {
  #turn = -1;
  #turnStart = 0;
  /** Of the turn before, whose final may come late. */
  #previousStart = 0;

  restarted(message: EarMessage): EarMessage {
    if (message.type === 'speech_started') return { ...message, start: 0 };
    if (!('turn' in message)) return message;
    if (message.turn > this.#turn) {
      this.#turn = message.turn;
      this.#previousStart = this.#turnStart;
      this.#turnStart = message.start;
    }
    const begin = message.turn === this.#turn ? this.#turnStart : this.#previousStart;
    const times = { start: message.start - begin, end: message.end - begin };
    if (!('words' in message) || message.words === undefined) return { ...message, ...times };
    const words = message.words.map((word) => ({ ...word, start: word.start - begin, end: word.end - begin }));
    return { ...message, ...times, words };
  }
}
