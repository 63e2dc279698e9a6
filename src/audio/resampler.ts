// Changes the sample rate of a stream. Own code (a polyphase windowed sinc) rather than a library: legs open synchronously
// and a thousand at a time, which rules out a WebAssembly instance and heap per session that is made asynchronously.
import { toSample } from './pcm.ts';

/** Half of the filter in zero crossings of the lower rate: more is sharper, and dearer in proportion. */
const ZERO_CROSSINGS = 24;
/** Shape of the Kaiser window: 72 dB of rejection. */
const KAISER_BETA = 7;
/** Where the filter is at half amplitude, of the lower Nyquist frequency: the stop band then begins at that frequency. */
const CUTOFF = 0.907;
/** Rows of a filter; rates whose ratio needs more are interpolated between this many. */
const EXACT_ROWS_MAX = 512;
const INTERPOLATED_ROWS = 256;
/** Filters kept for reuse; the largest takes 0.3 MB. */
const FILTERS_MAX = 16;
/** Input samples that are buffered beside those the filter spans. */
const INPUT_SAMPLES = 1024;

/** A filter for one pair of rates. Output o lies at input o × down / up. */
interface Filter {
  readonly up: number;
  readonly down: number;
  /** Input samples that the filter spans on either side; even. */
  readonly half: number;
  /** Sub-sample positions tabulated; one more row than that is stored. */
  readonly rows: number;
  /** (rows + 1) × 2 half coefficients. */
  readonly coefficients: Float32Array;
}

/**
 * A streaming rate converter with no delay of its own: output o lies where input o × from / to lay. It looks ahead by a
 * filter's half (1.5 ms at 16 kHz), so the newest outputs wait for input, or for `end`. How the input is cut changes nothing.
 */
export class Resampler {
  readonly #filter: Filter;
  /** Input samples `#base` to `#base + #held - 1`; before the beginning and after the end lies silence. */
  readonly #work: Float32Array;
  #base: number;
  #held: number;
  #written = 0;
  #read = 0;
  /** The next output lies `#phase / up` after input `#center`. */
  #center = 0;
  #phase = 0;
  #ended = false;

  constructor(fromRate: number, toRate: number) {
    this.#filter = filterFor(fromRate, toRate);
    this.#work = new Float32Array(3 * this.#filter.half + INPUT_SAMPLES);
    this.#base = 1 - this.#filter.half;
    this.#held = this.#filter.half - 1;
  }

  /** How many outputs `inputs` samples give in all, before or after the end. */
  outputsFor(inputs: number, ended: boolean): number {
    const { up, down, half } = this.#filter;
    return Math.max(0, Math.ceil(((ended ? inputs : inputs - half) * up) / down));
  }

  /** Takes what there is room for of the next input and says how much that was; `read` makes room. */
  write(samples: Int16Array): number {
    this.#makeRoom();
    const count = Math.min(samples.length, this.#work.length - this.#held - this.#filter.half);
    this.#work.set(count === samples.length ? samples : samples.subarray(0, count), this.#held);
    this.#held += count;
    this.#written += count;
    return count;
  }

  /** There is no more input: what waited can be read. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#makeRoom();
    this.#work.fill(0, this.#held, this.#held + this.#filter.half);
    this.#held += this.#filter.half;
  }

  /** Writes the next outputs, at most `samplesMax`, to `into` from `offset` on, and says how many there were. */
  read(into: Int16Array, offset: number, samplesMax: number): number {
    const { up, down, half, rows } = this.#filter;
    const count = Math.min(samplesMax, this.outputsFor(this.#written, this.#ended) - this.#read);
    const begin = this.#center - half + 1 - this.#base;
    const filtered = rows === up ? exactly : between;
    filtered(this.#filter, this.#work, begin, this.#phase, into.subarray(offset, offset + count));
    const advanced = this.#phase + count * down;
    const from = begin + Math.floor(advanced / up);
    const phase = advanced % up;
    this.#center = from + half - 1 + this.#base;
    this.#phase = phase;
    this.#read += count;
    return count;
  }

  /** Drops input that no further output needs. Room for the silence of `end` is always left. */
  #makeRoom(): void {
    const old = Math.min(this.#held, this.#center - this.#filter.half + 1 - this.#base);
    if (old <= 0) return;
    this.#work.copyWithin(0, old, this.#held);
    this.#base += old;
    this.#held -= old;
  }
}

/** Converts chunks of mono samples from one rate to another; equal rates pass through. */
export class PcmConverter {
  readonly #resampler: Resampler | undefined;
  #output = new Int16Array(0);

  constructor(fromRate: number, toRate: number) {
    this.#resampler = fromRate === toRate ? undefined : new Resampler(fromRate, toRate);
  }

  /** What this chunk makes certain. Valid until the next call, and while `samples` is. */
  push(samples: Int16Array): Int16Array {
    if (this.#resampler === undefined) return samples;
    let made = 0;
    for (let at = 0; at < samples.length; ) {
      at += this.#resampler.write(samples.subarray(at));
      made = this.#drain(this.#resampler, made);
    }
    return this.#output.subarray(0, made);
  }

  /** The rest. Valid until the next call. */
  end(): Int16Array {
    if (this.#resampler === undefined) return this.#output;
    this.#resampler.end();
    return this.#output.subarray(0, this.#drain(this.#resampler, 0));
  }

  #drain(resampler: Resampler, made: number): number {
    for (;;) {
      if (made === this.#output.length) {
        const larger = new Int16Array(Math.max(1024, 2 * made));
        larger.set(this.#output);
        this.#output = larger;
      }
      const count = resampler.read(this.#output, made, this.#output.length - made);
      if (count === 0) return made;
      made += count;
    }
  }
}

// Each writes all outputs that were requested: a function called for one of them would hand each number over in an object. Four sums
// side by side, because one would wait for its own last addition; the number of taps is a multiple of 4.

/** Every output has a row of its own. */
function exactly(
  { up, down, half, coefficients }: Filter,
  work: Float32Array,
  begin: number,
  beginPhase: number,
  into: Int16Array,
): void {
  const taps = 2 * half;
  let from = begin;
  let phase = beginPhase;
  for (let output = 0; output < into.length; output++) {
    const row = phase * taps;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let i = 0; i < taps; i += 4) {
      a += work[from + i]! * coefficients[row + i]!;
      b += work[from + i + 1]! * coefficients[row + i + 1]!;
      c += work[from + i + 2]! * coefficients[row + i + 2]!;
      d += work[from + i + 3]! * coefficients[row + i + 3]!;
    }
    into[output] = toSample(a + b + c + d);
    phase += down;
    while (phase >= up) {
      phase -= up;
      from++;
    }
  }
}

/** An output lies between two rows: it is as much of each as it is near. */
function between(
  { up, down, half, rows, coefficients }: Filter,
  work: Float32Array,
  begin: number,
  beginPhase: number,
  into: Int16Array,
): void {
  const taps = 2 * half;
  let from = begin;
  let phase = beginPhase;
  for (let output = 0; output < into.length; output++) {
    const place = (phase * rows) / up;
    const row = Math.floor(place) * taps;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let i = 0; i < taps; i += 2) {
      a += work[from + i]! * coefficients[row + i]!;
      b += work[from + i + 1]! * coefficients[row + i + 1]!;
      c += work[from + i]! * coefficients[row + taps + i]!;
      d += work[from + i + 1]! * coefficients[row + taps + i + 1]!;
    }
    const share = place - Math.floor(place);
    into[output] = toSample((1 - share) * (a + b) + share * (c + d));
    phase += down;
    const whole = Math.floor(phase / up);
    from += whole;
    phase -= whole * up;
  }
}

const filters = new Map<string, Filter>();

function filterFor(fromRate: number, toRate: number): Filter {
  const divisor = greatestCommonDivisor(fromRate, toRate);
  const up = toRate / divisor;
  const down = fromRate / divisor;
  const key = `${up}/${down}`;
  const filter = filters.get(key) ?? makeFilter(up, down);
  // The map keeps insertion order: the first key is the one longest unused.
  filters.delete(key);
  filters.set(key, filter);
  if (filters.size > FILTERS_MAX) filters.delete(filters.keys().next().value!);
  return filter;
}

function makeFilter(up: number, down: number): Filter {
  const stretch = Math.max(1, down / up);
  const half = 2 * Math.ceil((ZERO_CROSSINGS * stretch) / 2);
  const rows = up <= EXACT_ROWS_MAX ? up : INTERPOLATED_ROWS;
  const taps = 2 * half;
  const coefficients = new Float32Array((rows + 1) * taps);
  const row = new Float64Array(taps);
  for (let r = 0; r <= rows; r++) {
    let sum = 0;
    for (let k = 0; k < taps; k++) {
      row[k] = windowedSinc((k - half + 1 - r / rows) / stretch);
      sum += row[k]!;
    }
    // Each row passes a constant unchanged, so that no tone of the row's own rhythm comes of it.
    for (let k = 0; k < taps; k++) coefficients[r * taps + k] = row[k]! / sum;
  }
  return { up, down, half, rows, coefficients };
}

/** The filter at `time`, in samples of the lower rate. */
function windowedSinc(time: number): number {
  const edge = 1 - (time / ZERO_CROSSINGS) ** 2;
  if (edge < 0) return 0;
  const angle = Math.PI * CUTOFF * time;
  const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
  return sinc * besselI0(KAISER_BETA * Math.sqrt(edge));
}

/** The modified Bessel function of order 0, by its power series. */
function besselI0(x: number): number {
  const quarter = (x * x) / 4;
  let term = 1;
  let sum = 1;
  for (let n = 1; term > sum * 1e-12; n++) {
    term *= quarter / (n * n);
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
