// How audio is cut into utterances: what holds for any audio, at the edges of the rules, and for real speech.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Segment, Segmenter, type SegmenterRules } from '../../../src/audio/voice/segmenter.ts';
import { drawn } from '../../fakes/drawn.ts';
import { sampleAudio, samples } from '../../fakes/processes/live-gateway.ts';

const RATE = 16_000;
const RULES: SegmenterRules = {
  silenceMs: 600,
  beforeMs: 300,
  afterMs: 300,
  shortestMs: 100,
  longestMs: 20_000,
  searchMs: 5_000,
};
const WINDOW = RATE / 40;

/** Noise of an amplitude, for so long. */
interface Piece {
  amplitude: number;
  ms: number;
}

function audioOf(pieces: readonly Piece[]): Int16Array {
  const lengths = pieces.map(({ ms }) => Math.round((ms * RATE) / 1000));
  const audio = new Int16Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  let noise = 1;
  for (const [index, { amplitude }] of pieces.entries()) {
    for (const end = at + (lengths[index] as number); at < end; at++) {
      noise = (Math.imul(noise, 1_103_515_245) + 12_345) | 0;
      audio[at] = Math.round((noise / 2 ** 31) * amplitude);
    }
  }
  return audio;
}

const bytesOf = (audio: Int16Array) => new Uint8Array(audio.buffer, audio.byteOffset, audio.byteLength);

interface Heard {
  segments: Segment[];
  started: number[];
  settled: number[];
  heldBytesMax: number;
}

/** The whole audio through a segmenter, in chunks of these lengths, again and again. */
function hear(audio: Int16Array, chunks: readonly number[] = [320], rules = RULES, rate = RATE): Heard {
  const heard: Heard = { segments: [], started: [], settled: [], heldBytesMax: 0 };
  const segmenter = new Segmenter(rate, rules, {
    started: (sample) => heard.started.push(sample),
    ended: (segment) => heard.segments.push(segment),
  });
  for (let at = 0, turn = 0; at < audio.length; turn++) {
    const length = chunks[turn % chunks.length] as number;
    segmenter.take(bytesOf(audio.slice(at, at + length)));
    at += length;
    heard.settled.push(segmenter.settled);
    heard.heldBytesMax = Math.max(heard.heldBytesMax, segmenter.heldBytes);
  }
  segmenter.flush();
  return heard;
}

/** What must hold of any segments of this audio. */
function expectSound(audio: Int16Array, { segments, started, settled }: Heard, rules = RULES): void {
  let end = 0;
  for (const [index, segment] of segments.entries()) {
    expect(segment.start).toBeGreaterThanOrEqual(end);
    expect(segment.end).toBeGreaterThan(segment.start);
    expect(segment.end - segment.start).toBeLessThanOrEqual((rules.longestMs * RATE) / 1000 + WINDOW);
    expect(segment.voicedStart).toBeGreaterThanOrEqual(segment.start);
    expect(segment.voicedEnd).toBeGreaterThanOrEqual(segment.voicedStart);
    expect(segment.voicedEnd).toBeLessThanOrEqual(segment.end);
    // Compared at once: thousands of comparisons would take their time.
    expect(Buffer.compare(bytesOf(segment.samples), bytesOf(audio.slice(segment.start, segment.end)))).toBe(0);
    expect(started[index]).toBe(segment.voicedStart);
    end = segment.end;
  }
  expect(end).toBeLessThanOrEqual(audio.length);
  expect(started.length).toBe(segments.length);
  expect(settled.findIndex((sample, index) => sample < (settled[index - 1] ?? 0))).toBe(-1);
}

const isInside = (segments: readonly Segment[], from: number, to: number): boolean => {
  let at = from;
  for (const { start, end } of segments) if (start <= at && end > at) at = end;
  return at >= to;
};

const piece = fc.record({
  amplitude: fc.constantFrom(0, 10, 60, 400, 3_000, 12_000, 30_000),
  ms: fc.integer({ min: 5, max: 2_500 }),
});
const chunkLengths = fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 8 });

describe('any audio', () => {
  it('splits the same for any frames, and never inside a loud place', () => {
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 25 }), chunkLengths, (pieces, chunks) => {
        const audio = audioOf(pieces);
        const whole = hear(audio, [audio.length]);
        const cut = hear(audio, chunks);
        expectSound(audio, cut);
        expect(cut.segments.map(({ samples, ...rest }) => ({ ...rest, length: samples.length }))).toEqual(
          whole.segments.map(({ samples, ...rest }) => ({ ...rest, length: samples.length })),
        );
        let from = 0;
        for (const { amplitude, ms } of pieces) {
          const length = Math.round((ms * RATE) / 1000);
          // Uniform noise of this amplitude is at -25 dBFS or above: speech whatever the noise. Knocks are none.
          if (amplitude >= 3_000 && ms >= 150) expect(isInside(cut.segments, from, from + length)).toBe(true);
          from += length;
        }
      }),
      { seed: 20_260_806, numRuns: drawn(150) },
    );
  });

  it('needs bounded memory without an end, and little in silence', () => {
    const longest = 2 * 2 * (RULES.longestMs / 1_000 + 3) * RATE;
    const endless = hear(audioOf([{ amplitude: 20_000, ms: 90_000 }]), [1_600]);
    expect(endless.heldBytesMax).toBeLessThanOrEqual(longest);
    expect(endless.segments.length).toBeGreaterThanOrEqual(4);
    expect(hear(audioOf([{ amplitude: 0, ms: 90_000 }]), [1_600]).heldBytesMax).toBeLessThanOrEqual(2 * 2 * RATE);
  });

  it('gives the memory of a long utterance back behind it', () => {
    const segmenter = new Segmenter(RATE, RULES, { started: () => {}, ended: () => {} });
    segmenter.take(bytesOf(audioOf([{ amplitude: 9_000, ms: 15_000 }])));
    expect(segmenter.heldBytes).toBeGreaterThan(15 * 2 * RATE);
    segmenter.take(bytesOf(audioOf([{ amplitude: 0, ms: 1_000 }])));
    expect(segmenter.heldBytes).toBeLessThan(4 * 2 * RATE);
  });
});

describe('an utterance', () => {
  const spoken = [
    { amplitude: 20, ms: 1_000 },
    { amplitude: 6_000, ms: 1_000 },
    { amplitude: 20, ms: 1_000 },
  ];

  it('includes padding on both sides, and ends after enough silence', () => {
    const ended: number[] = [];
    const segmenter = new Segmenter(RATE, RULES, { started: () => {}, ended: ({ end }) => ended.push(end) });
    const audio = audioOf(spoken);
    segmenter.take(bytesOf(audio.slice(0, 2.575 * RATE)));
    expect(ended).toEqual([]);
    segmenter.take(bytesOf(audio.slice(2.575 * RATE, 2.6 * RATE)));
    expect(ended).toEqual([2.3 * RATE]);
    expect(hear(audio).segments).toMatchObject([
      { start: 0.7 * RATE, voicedStart: RATE, voicedEnd: 2 * RATE, end: 2.3 * RATE },
    ]);
  });

  it('starts an event once it is long enough for speech, before it ends', () => {
    const started: number[] = [];
    const segmenter = new Segmenter(RATE, RULES, { started: (sample) => started.push(sample), ended: () => {} });
    const audio = audioOf(spoken);
    segmenter.take(bytesOf(audio.slice(0, 1.075 * RATE)));
    expect(started).toEqual([]);
    segmenter.take(bytesOf(audio.slice(1.075 * RATE, 1.1 * RATE)));
    expect(started).toEqual([RATE]);
  });

  it.each([
    ['continues over a short pause', 500, 1],
    ['ends in a long one', 700, 2],
  ])('%s', (_, ms, count) => {
    const audio = audioOf([...spoken.slice(0, 2), { amplitude: 20, ms }, ...spoken.slice(1)]);
    expect(hear(audio).segments.length).toBe(count);
  });

  it('ends at once by a flush, and the next begins there', () => {
    const segments: Segment[] = [];
    const segmenter = new Segmenter(RATE, RULES, { started: () => {}, ended: (segment) => segments.push(segment) });
    const audio = audioOf(spoken);
    segmenter.take(bytesOf(audio.slice(0, 1.512 * RATE)));
    segmenter.flush();
    segmenter.flush();
    segmenter.take(bytesOf(audio.slice(1.512 * RATE)));
    segmenter.flush();
    expect(segments.map(({ start, end }) => [start / RATE, end / RATE])).toEqual([
      [0.7, 1.512],
      [1.512, 2.3],
    ]);
  });

  it('ends where it is quietest within bounds though it is loud, and the next begins there', () => {
    const segments: Segment[] = [];
    const segmenter = new Segmenter(RATE, RULES, { started: () => {}, ended: (segment) => segments.push(segment) });
    const audio = audioOf([
      { amplitude: 20, ms: 1_000 },
      { amplitude: 6_000, ms: 2_250 },
      { amplitude: 4_000, ms: 100 },
      { amplitude: 6_000, ms: 1_650 },
      { amplitude: 20, ms: 1_000 },
    ]);
    segmenter.endWithin(500, 1_500);
    expect(segmenter.utteranceStart).toBeUndefined();
    segmenter.take(bytesOf(audio.slice(0, 4 * RATE)));
    expect(segmenter.utteranceStart).toBe(0.7 * RATE);
    const held = segmenter.copyFrom(2 * RATE, RATE);
    expect(held).toEqual(audio.slice(2 * RATE, 3 * RATE));
    for (const from of [0, 0.5 * RATE, 3.5 * RATE, 9 * RATE]) segmenter.endWithin(from, from + 0.6 * RATE);
    segmenter.endWithin(3 * RATE, 3 * RATE + 500);
    expect(segments).toEqual([]);
    segmenter.endWithin(2.5 * RATE + 7, 3.9 * RATE);
    const cut = segmenter.utteranceStart as number;
    expect(Math.abs(cut - 3.3 * RATE)).toBeLessThanOrEqual(0.05 * RATE);
    expect(segmenter.copyFrom(2 * RATE, RATE)).toHaveLength(0);
    segmenter.take(bytesOf(audio.slice(4 * RATE)));
    segmenter.flush();
    expect(segments.map(({ start, end }) => [start, end])).toEqual([
      [0.7 * RATE, cut],
      [cut, 5.3 * RATE],
    ]);
    for (const { start, end, samples } of segments) expect(samples).toEqual(audio.slice(start, end));
  });

  it('counts at a flush when too short for speech, and is a knock otherwise', () => {
    const knock = [
      { amplitude: 20, ms: 1_000 },
      { amplitude: 9_000, ms: 50 },
    ];
    expect(hear(audioOf([...knock, { amplitude: 20, ms: 1_000 }])).segments).toEqual([]);
    expect(hear(audioOf([...knock, { amplitude: 20, ms: 100 }])).segments.length).toBe(1);
  });

  it('splits where it is quietest when it grows too long, without losing a sample', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 4_800 }), fc.integer({ min: 0, max: 3 }), (dipAtMs, phase) => {
        const audio = audioOf([
          { amplitude: 0, ms: 500 + phase * 7 },
          { amplitude: 12_000, ms: 14_700 - phase * 7 + dipAtMs },
          // Not silence: a quieter syllable, that no threshold would see.
          { amplitude: 5_000, ms: 150 },
          { amplitude: 12_000, ms: 9_000 },
        ]);
        const dip = ((15_200 + dipAtMs) * RATE) / 1000;
        const [first, second, ...more] = hear(audio).segments as [Segment, Segment];
        expect(more).toEqual([]);
        expect(first.end).toBe(second.start);
        expect(first.end).toBeGreaterThanOrEqual(dip);
        expect(first.end).toBeLessThanOrEqual(dip + 0.15 * RATE);
      }),
      { seed: 20_260_806, numRuns: 20 },
    );
  });
});

describe('noise', () => {
  it('counts as speech for a few seconds at most, and speech over it is found', () => {
    const audio = audioOf([
      { amplitude: 300, ms: 12_000 },
      { amplitude: 3_000, ms: 1_500 },
      { amplitude: 300, ms: 3_000 },
    ]);
    const { segments } = hear(audio);
    const last = segments.at(-1) as Segment;
    expect(last.voicedStart).toBeGreaterThanOrEqual(11.95 * RATE);
    expect(last.voicedStart).toBeLessThanOrEqual(12.05 * RATE);
    expect(last.voicedEnd / RATE).toBeCloseTo(13.5, 1);
    for (const { voicedEnd } of segments.slice(0, -1)) expect(voicedEnd).toBeLessThanOrEqual(5 * RATE);
  });

  it('does not count as speech in a quiet room, where quiet speech does', () => {
    const room = { amplitude: 30, ms: 3_000 };
    expect(hear(audioOf([room])).segments).toEqual([]);
    expect(hear(audioOf([room, { amplitude: 250, ms: 800 }, room])).segments.length).toBe(1);
  });
});

describe('real speech', () => {
  /** Of files that hold more than one. */
  const TURNS: Readonly<Record<string, number>> = { 'commands.wav': 5, 'french/commandes.wav': 3 };

  it.each(samples())('splits $file into its turns', ({ file, text }) => {
    const { pcm, sampleRate } = sampleAudio(file);
    const audio = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.length / 2);
    const heard = hear(audio, [317, 80, 4_001], RULES, sampleRate);
    expectSound(audio, heard);
    const texts = TURNS[file] ?? (text === '' ? 0 : 1);
    // Noise from the first sample on is not known to be noise; the pause for a comma is as long as one for a stop.
    const extra = file === 'lines/noise.wav' || file.includes('align') ? 1 : 0;
    expect(heard.segments.length).toBe(texts + extra);
  });
});
