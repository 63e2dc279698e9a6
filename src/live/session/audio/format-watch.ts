// Suspects audio that is not what its client declared: of another layout or another sample rate.
import { BYTES_PER_SAMPLE } from '../../../api/audio-formats.ts';

/** An even number: every block begins with the same channel. */
const BLOCK_SAMPLES = 1_024;
const LOUD_BLOCKS = 16;
const SUSPECT_BLOCKS = 12;
/** After so much that is not loud nobody looks any more. */
const BLOCKS_MAX = 2_000;
/** Root of the mean square. */
const LOUD_AMPLITUDE = 100;
/** In a single channel neither differs between even and odd samples: how far neighbours are apart, and how loud they are. */
const PAIRED = 0.25;
const LOUDER = 0.6;
/** Of the neighbours: where fewer differ, it is no sound that was recorded. */
const CHANGES_MIN = 0.25;

/** The upper halves of 32-bit numbers from 2⁻¹⁶ to 1, without their sign. */
const FLOAT_HALF_MIN = 0x3780;
const FLOAT_HALF_MAX = 0x3f80;
/** Of the upper halves, and at most of the lower ones. */
const FLOATS_MIN = 0.9;
const LOWER_HALVES_MAX = 0.5;

/** What the audio looks like instead of one channel of 16-bit integers. */
export type OddLayout = 'two_channels' | 'floating_point';

/**
 * Judges the layout by the first second that is loud enough. Two channels that are sent as one: one voice on both makes pairs of alike
 * samples; different ones make every second sample more alike than neighbours are, which no single channel does. Floating point: every
 * second pair of bytes holds sign and exponent, which sound keeps within a few values. Holds one block at most until it is sure.
 */
export class LayoutWatch {
  /** Undefined when enough was seen. */
  #block: Uint8Array | undefined = new Uint8Array(BLOCK_SAMPLES * BYTES_PER_SAMPLE);
  #filled = 0;
  #blocks = 0;
  #loud = 0;
  readonly #suspects = { two_channels: 0, floating_point: 0 };

  /** Takes linear16 in pieces of any length. Tells once what is suspicious. */
  note(bytes: Uint8Array): OddLayout | undefined {
    for (let at = 0; this.#block !== undefined && at < bytes.length; ) {
      const piece = Math.min(bytes.length - at, this.#block.length - this.#filled);
      if (piece === bytes.length) this.#block.set(bytes, this.#filled);
      else copy(bytes, at, this.#block, this.#filled, piece);
      at += piece;
      this.#filled += piece;
      const layout = this.#filled === this.#block.length ? this.#judge(new Int16Array(this.#block.buffer)) : undefined;
      if (layout !== undefined) return layout;
    }
    return undefined;
  }

  #judge(block: Int16Array): OddLayout | undefined {
    this.#filled = 0;
    this.#blocks++;
    // Most of a quiet stream is no more work than this. Floating point, read as integers, is loud.
    if (isLoud(block)) {
      this.#loud++;
      if (looksFloating(block)) this.#suspects.floating_point++;
      else if (looksInterleaved(block)) this.#suspects.two_channels++;
    }
    if (this.#loud === LOUD_BLOCKS || this.#blocks === BLOCKS_MAX) this.#block = undefined;
    if (this.#loud < LOUD_BLOCKS) return undefined;
    return LAYOUTS.find((layout) => this.#suspects[layout] >= SUSPECT_BLOCKS);
  }
}

/** Without an object for each chunk that is cut at the end of a block. */
function copy(from: Uint8Array, start: number, to: Uint8Array, at: number, length: number): void {
  for (let index = 0; index < length; index++) to[at + index] = from[start + index] as number;
}

const LAYOUTS: readonly OddLayout[] = ['floating_point', 'two_channels'];

function isLoud(block: Int16Array): boolean {
  let sum = 0;
  let squares = 0;
  for (const sample of block) {
    sum += sample;
    squares += sample * sample;
  }
  return squares - sum ** 2 / block.length >= block.length * LOUD_AMPLITUDE ** 2;
}

/** Whichever half comes first: the stream may begin within a number. */
function looksFloating(block: Int16Array): boolean {
  const halves: Pair = [0, 0];
  block.forEach((sample, at) => {
    const magnitude = sample & 0x7fff;
    if (magnitude >= FLOAT_HALF_MIN && magnitude <= FLOAT_HALF_MAX) halves[(at % 2) as 0 | 1]++;
  });
  const [lower, upper] = halves.sort((a, b) => a - b) as Pair;
  const numbers = block.length / 2;
  return upper > FLOATS_MIN * numbers && lower < LOWER_HALVES_MAX * numbers;
}

function looksInterleaved(block: Int16Array): boolean {
  const mean = block.reduce((sum, sample) => sum + sample, 0) / block.length;
  const energy: Pair = [0, 0];
  /** Of the differences between the samples of a pair, and between pairs. */
  const apart: Pair = [0, 0];
  let changes = 0;
  let next = 0;
  let overnext = 0;
  for (let at = 0; at + 2 < block.length; at++) {
    const parity = (at % 2) as 0 | 1;
    const here = (block[at] as number) - mean;
    const second = (block[at + 1] as number) - mean;
    energy[parity] += here * here;
    apart[parity] += (second - here) ** 2;
    if (second !== here) changes++;
    next += here * second;
    overnext += here * ((block[at + 2] as number) - mean);
  }
  const whole = energy[0] + energy[1];
  // A tone made of plain steps may take each of them at an even sample.
  if (changes < block.length * CHANGES_MIN) return false;
  const isUneven = areApart(apart, PAIRED) || areApart(energy, LOUDER);
  return overnext > 0.3 * whole && (isUneven || (Math.abs(next) < 0.3 * whole && overnext > 0.6 * whole));
}

type Pair = [even: number, odd: number];

const areApart = ([even, odd]: Pair, ratio: number): boolean => even < ratio * odd || odd < ratio * even;

const WINDOW_MS = 10_000;
/** A window has so many parts; a wrong rate shows in all of them alike. */
const PART_MS = 2_000;
const PARTS_APART = 1.5;
const STEADY_GAP_MS = 500;

/**
 * Suspects a wrong sample rate: audio that arrives steadily, as from a microphone, yet at another speed than real time. A file sent at
 * once, a client that pauses, or one that sends again what a broken connection lost is not suspected. At most once.
 */
export class RateWatch {
  readonly #sampleRate: number;
  #startedAt = Number.NaN;
  #startedSamples = 0;
  #partAt = 0;
  #partSamples = 0;
  #slowest = Infinity;
  #fastest = 0;
  #lastAt = 0;
  #steady = true;
  #suspected = false;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  /** The ratio of audio time to clock time when it is suspicious (over 20 % off), else undefined. */
  note(receivedSamples: number, nowMs: number): number | undefined {
    if (this.#suspected) return undefined;
    if (Number.isNaN(this.#startedAt)) {
      this.#begin(receivedSamples, nowMs);
      return undefined;
    }
    if (nowMs - this.#lastAt > STEADY_GAP_MS) this.#steady = false;
    this.#lastAt = nowMs;
    if (nowMs - this.#partAt >= PART_MS) this.#endPart(receivedSamples, nowMs);
    if (nowMs - this.#startedAt < WINDOW_MS) return undefined;
    const ratio = this.#ratio(receivedSamples - this.#startedSamples, nowMs - this.#startedAt);
    const isSteady = this.#steady && this.#fastest < this.#slowest * PARTS_APART;
    // Beyond a factor of eight it is a file, not a microphone.
    const odd = isSteady && (ratio < 0.8 || ratio > 1.2) && ratio > 0.125 && ratio < 8;
    this.#begin(receivedSamples, nowMs);
    if (!odd) return undefined;
    this.#suspected = true;
    return ratio;
  }

  #begin(receivedSamples: number, nowMs: number): void {
    this.#startedAt = nowMs;
    this.#startedSamples = receivedSamples;
    this.#partAt = nowMs;
    this.#partSamples = receivedSamples;
    this.#slowest = Infinity;
    this.#fastest = 0;
    this.#lastAt = nowMs;
    this.#steady = true;
  }

  #endPart(receivedSamples: number, nowMs: number): void {
    const ratio = this.#ratio(receivedSamples - this.#partSamples, nowMs - this.#partAt);
    this.#slowest = Math.min(this.#slowest, ratio);
    this.#fastest = Math.max(this.#fastest, ratio);
    this.#partAt = nowMs;
    this.#partSamples = receivedSamples;
  }

  #ratio(samples: number, elapsedMs: number): number {
    return (samples / this.#sampleRate) * (1000 / elapsedMs);
  }
}
