// The pure parts of the client: what is kept of audio, in which order it leaves, how times are placed, when it is tried again.
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { jitterMs, retryAfterSeconds } from '../../clients/typescript/src/http/backoff.ts';
import type { SessionEvent } from '../../clients/typescript/src/index.ts';
import { EventQueue } from '../../clients/typescript/src/live/event-queue.ts';
import { OutgoingAudio, ROOM_BYTES } from '../../clients/typescript/src/live/outgoing-audio.ts';
import { adviceOf, Retries, reconnectOf } from '../../clients/typescript/src/live/reconnection/reconnect.ts';
import { sum } from '../../clients/typescript/src/live/summary.ts';
import { AudioTape } from '../../clients/typescript/src/live/tape.ts';
import { Timeline } from '../../clients/typescript/src/live/timeline/timeline.ts';
import { fallbacksText } from '../../clients/typescript/src/params.ts';
import { ERROR_CATALOGUE } from '../../src/api/error-catalogue.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';

const SEEDED = { seed: 11, numRuns: 200 };

it('returns from the tape what was put on it, at any position, until it is dropped', () => {
  const audio = numberedAudio(0, 200_000);
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 90_000 }), { minLength: 1, maxLength: 12 }),
      fc.array(fc.integer({ min: 0, max: 400_000 }), { maxLength: 6 }),
      fc.integer({ min: 1, max: 70_000 }),
      (sizes, trims, step) => {
        const tape = new AudioTape();
        for (const [index, size] of sizes.entries()) {
          const piece = audio.slice(tape.end, tape.end + size);
          tape.append(piece);
          piece.fill(0);
          const trim = trims[index];
          if (trim !== undefined) tape.trim(trim);
          expect(tape.start).toBeLessThanOrEqual(tape.end);
        }
        const read: Uint8Array[] = [];
        for (let at = tape.start; at < tape.end; ) {
          const part = tape.read(at, step);
          at += part.length;
          read.push(part);
        }
        expect(read.filter(({ length }) => length === 0 || length > step)).toEqual([]);
        expect(Buffer.concat(read).equals(audio.subarray(tape.start, tape.end))).toBe(true);
        if (tape.start > 0) expect(() => tape.read(tape.start - 1, 1)).toThrow(RangeError);
      },
    ),
    { seed: 11, numRuns: 40 },
  );
});

describe('outgoing audio', () => {
  const made = () => new OutgoingAudio({ sampleRate: 16_000, bytesPerSample: 2, replaySecondsMax: 60 });
  const line = () => {
    const sent: (string | number)[] = [];
    return {
      sent,
      bufferedAmount: 0,
      send: (data: Uint8Array | object) => {
        sent.push(data instanceof Uint8Array ? data.length : (data as { type: string }).type);
      },
    };
  };

  it('leaves in frames of at most what the gateway takes, marks between, and `close` once, last', () => {
    const audio = made();
    const first = line();
    void audio.write(new Uint8Array(250));
    audio.mark();
    audio.mark();
    void audio.write(new Uint8Array(70));
    audio.close();
    audio.connect(first, 100, 0);
    audio.pump();
    audio.pump();
    expect(first.sent).toEqual([100, 100, 50, 'finalize', 70, 'close']);
  });

  it('replays on another line from the end of the last final, with the marks after it', () => {
    const audio = made();
    const first = line();
    audio.connect(first, 1_000, 0);
    void audio.write(new Uint8Array(100));
    audio.mark();
    void audio.write(new Uint8Array(100));
    audio.mark();
    void audio.write(new Uint8Array(20));
    audio.covered(50);
    audio.disconnect();
    const second = line();
    expect(audio.connect(second, 1_000, 50)).toEqual({ originSample: 50, replayedSamples: 60 });
    audio.close();
    expect(first.sent).toEqual([100, 'finalize', 100, 'finalize', 20]);
    expect(second.sent).toEqual([100, 'finalize', 20, 'close']);
    expect([audio.isClosed, audio.isCovered, audio.seconds]).toEqual([true, false, 110 / 16_000]);
    audio.covered(110);
    expect(audio.isCovered).toBe(true);
  });

  it('waits for room, checks again, and continues', async () => {
    vi.useFakeTimers();
    try {
      const audio = made();
      const socket = line();
      audio.connect(socket, 65_536, 0);
      socket.bufferedAmount = ROOM_BYTES + 1;
      let isSent = false;
      const sent = audio.write(new Uint8Array(10)).then(() => {
        isSent = true;
      });
      await vi.advanceTimersByTimeAsync(1_000);
      expect([isSent, socket.sent]).toEqual([false, []]);
      socket.bufferedAmount = 0;
      await vi.advanceTimersByTimeAsync(10);
      await sent;
      expect([isSent, socket.sent]).toEqual([true, [10]]);
      // A socket that takes the bytes and keeps them has no room either.
      socket.send = (data) => {
        socket.bufferedAmount += (data as Uint8Array).length;
      };
      isSent = false;
      void audio.write(new Uint8Array(ROOM_BYTES + 1)).then(() => {
        isSent = true;
      });
      await vi.advanceTimersByTimeAsync(1_000);
      expect(isSent).toBe(false);
      socket.bufferedAmount = 0;
      await vi.advanceTimersByTimeAsync(10);
      expect(isSent).toBe(true);
      // Nothing is asked for when nobody waits.
      const asked = vi.fn(() => 0);
      Object.defineProperty(socket, 'bufferedAmount', { get: asked });
      await vi.advanceTimersByTimeAsync(1_000);
      expect(asked).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the timeline', () => {
  const head = { session_id: 's', seq: 1, at: 'now' };
  const transcript = (turn: number, start: number, end: number, is_final: boolean, text = 'x') =>
    ({ type: 'transcript', ...head, text, is_final, turn, start, end, model: 'm' }) as const;

  it('continues over connections: turns count on, times shift by whole samples', () => {
    const timeline = new Timeline(16_000);
    timeline.begin(0);
    expect(timeline.place(transcript(0, 0.1, 0.5, true))).toMatchObject({ turn: 0, start: 0.1, end: 0.5 });
    expect(timeline.coveredSample).toBe(8_000);
    expect(timeline.place(transcript(1, 0.6, 0.8, false))).toMatchObject({ turn: 1 });
    timeline.begin(8_000);
    // It says less than was shown before: it is shown once it says more.
    expect(timeline.place(transcript(0, 0.1, 0.2, false))).toBeUndefined();
    expect(timeline.place(transcript(0, 0.1, 0.35, false))).toMatchObject({ turn: 1, start: 0.6, end: 0.85 });
    const words = [{ word: 'x', start: 0.1, end: 0.4 }];
    const final = timeline.place({ ...transcript(0, 0.1, 0.4, true), words });
    expect(final).toMatchObject({ turn: 1, start: 0.6, end: 0.9, words: [{ word: 'x', start: 0.6, end: 0.9 }] });
    expect(timeline.rest()).toEqual([]);
  });

  it('gives a shown turn without a later transcript an empty final', () => {
    const timeline = new Timeline(16_000);
    timeline.begin(0);
    timeline.place(transcript(0, 0.1, 0.5, true));
    timeline.place(transcript(1, 0.6, 0.8, false, 'noise'));
    timeline.begin(8_000);
    expect(timeline.rest()).toMatchObject([{ turn: 1, text: '', is_final: true, start: 0.6, end: 0.6 }]);
    expect(timeline.rest()).toEqual([]);
  });

  it('leaves no bound of a turn open where a connection breaks, and places those of the next', () => {
    const timeline = new Timeline(16_000);
    const speech = (turn: number, start: number) => ({ type: 'speech_started', ...head, turn, start }) as const;
    const eager = (turn: number, start: number, end: number) =>
      ({ type: 'turn_eager_end', ...head, turn, text: 'x', start, end, model: 'm' }) as const;
    const resumed = (turn: number) => ({ type: 'turn_resumed', ...head, turn, reason: 'speech' }) as const;
    const ended = (turn: number, start: number, end: number) =>
      ({ type: 'turn_ended', ...head, turn, start, end }) as const;
    timeline.begin(0);
    timeline.place(speech(0, 0.1));
    timeline.place(transcript(0, 0.1, 0.5, true));
    // The end of a turn that has its final was on its way.
    expect(timeline.close()).toMatchObject([{ type: 'turn_ended', turn: 0, start: 0.1, end: 0.5 }]);
    timeline.begin(8_000);
    expect(timeline.place(speech(0, 0.1))).toMatchObject({ turn: 1, start: 0.6 });
    timeline.place(transcript(0, 0.1, 0.4, false));
    expect(timeline.place(eager(0, 0.1, 0.4))).toMatchObject({ turn: 1, start: 0.6, end: 0.9 });
    expect(timeline.close()).toMatchObject([{ type: 'turn_resumed', turn: 1, reason: 'reheard' }]);
    expect(timeline.close()).toEqual([]);
    timeline.begin(8_000);
    // Of less than was shown: neither that it may be over, nor that it is not.
    expect([timeline.place(eager(0, 0.1, 0.2)), timeline.place(resumed(0))]).toEqual([undefined, undefined]);
    expect(timeline.place(eager(0, 0.1, 0.4))).toMatchObject({ turn: 1 });
    expect(timeline.place(resumed(0))).toMatchObject({ turn: 1 });
    expect(timeline.place(transcript(0, 0.1, 0.4, true))).toMatchObject({ turn: 1 });
    expect(timeline.place(ended(0, 0.1, 0.4))).toMatchObject({ turn: 1, start: 0.6, end: 0.9 });
    expect(timeline.close()).toEqual([]);
  });

  it('gives each person a unique number, and reports where numbers start again', () => {
    const timeline = new Timeline(16_000);
    const said = (turn: number, start: number, is_final: boolean, ...speakers: (number | undefined)[]) => {
      const words = speakers.map((speaker, at) => ({
        ...{ word: 'x', start: start + at / 10, end: start + (at + 1) / 10 },
        ...(speaker === undefined ? {} : { speaker }),
      }));
      const [speaker] = speakers;
      const end = start + speakers.length / 10;
      const placed = timeline.place({
        ...{ ...transcript(turn, start, end, is_final), words },
        ...(speaker === undefined ? {} : { speaker }),
      });
      const restarted = placed && timeline.restartWith(placed);
      return [
        ...(restarted === undefined ? [] : [[restarted.type, restarted.start, restarted.first_speaker]]),
        placed && [placed.speaker, ...(placed.words ?? []).map((word) => word.speaker)],
      ];
    };
    timeline.begin(0);
    expect(said(0, 0, true, 0, 1)).toEqual([[0, 0, 1]]);
    expect(said(1, 0.2, false, 2, 2)).toEqual([[2, 2, 2]]);
    timeline.begin(3_200);
    // Numbers that nobody was shown are still free.
    expect(said(0, 0, false, 5)).toEqual([undefined]);
    expect(said(0, 0, false, undefined, undefined)).toEqual([[undefined, undefined, undefined]]);
    expect(said(0, 0, true, 0, 0, 1)).toEqual([
      ['speakers_restarted', 0.2, 3],
      [3, 3, 3, 4],
    ]);
    expect(said(1, 0.4, true, 1)).toEqual([[4, 4]]);
    timeline.begin(16_000);
    // The model changes before anybody is heard who has a number: the gateway's word is enough.
    const restarted = { type: 'speakers_restarted', ...head, start: 1, first_speaker: 2 } as const;
    expect(timeline.place(restarted)).toMatchObject({ start: 2, first_speaker: 7 });
    expect(said(0, 1, true, 2)).toEqual([[7, 7]]);
  });

  it('says no speech and no warning twice, but that a node drains', () => {
    const timeline = new Timeline(16_000);
    const speech = (start: number) => ({ type: 'speech_started', ...head, start }) as const;
    const warning = (code: string) => ({ type: 'warning', ...head, code, message: 'm' }) as const;
    timeline.begin(0);
    expect(timeline.place(speech(1))).toBeDefined();
    expect(timeline.place(warning('parameter_ignored'))).toBeDefined();
    timeline.begin(8_000);
    expect(timeline.place(speech(0.5))).toBeUndefined();
    expect(timeline.place(speech(2))).toMatchObject({ start: 2.5 });
    expect(timeline.place(warning('parameter_ignored'))).toBeUndefined();
    expect(timeline.place(warning('another'))).toBeDefined();
    expect(timeline.place(warning('node_draining'))).toBeDefined();
    expect(timeline.place(warning('node_draining'))).toBeDefined();
    expect(timeline.place({ type: 'discontinuity', ...head, from: 1, to: 2, reason: 'r' })).toMatchObject({
      from: 1.5,
      to: 2.5,
    });
  });
});

it('events that wait are numbered as they are read; of a turn’s interims the last one waits, a final never gives way', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          turns: fc.integer({ min: 0, max: 3 }),
          isFinal: fc.boolean(),
          read: fc.integer({ min: 0, max: 2 }),
        }),
        { maxLength: 40 },
      ),
      async (steps) => {
        const queue = new EventQueue(8);
        const seen: SessionEvent[] = [];
        const finals: number[] = [];
        let turn = 0;
        let refused = 0;
        for (const { isFinal, read } of steps) {
          const event = {
            type: 'transcript',
            text: '',
            is_final: isFinal,
            turn,
            start: 0,
            end: 0,
            model: '',
            session_id: '',
            seq: 0,
            at: '',
          } as const;
          if (!queue.push(event)) refused++;
          else if (isFinal) finals.push(turn);
          if (isFinal) turn++;
          expect(queue.size).toBeLessThanOrEqual(8);
          for (let count = 0; count < Math.min(read, queue.size); count++)
            seen.push((await queue.next()).value as SessionEvent);
        }
        queue.end();
        for (let next = await queue.next(); !next.done; next = await queue.next()) seen.push(next.value);
        expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index + 1));
        expect(seen.flatMap((event) => (event.type === 'transcript' && event.is_final ? event.turn : []))).toEqual(
          finals,
        );
        expect(refused === 0 || finals.length >= 7).toBe(true);
      },
    ),
    SEEDED,
  );
});

describe('retries', () => {
  it.each(Object.entries(ERROR_CATALOGUE).filter(([, { close }]) => close !== null))(
    'follow the catalogue’s advice after %s',
    (_, { close, advice }) => {
      expect(adviceOf(close as number)).toBe({ stop: 'stop', back_off: 'back_off', reconnect: 'at_once' }[advice]);
    },
  );

  it('wait between zero and a bound that doubles from 250 ms to 10 s', () => {
    const bounds = Array.from({ length: 9 }, (_, attempt) => jitterMs(attempt, () => 1));
    expect(bounds).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
    expect(jitterMs(5, () => 0)).toBe(0);
    expect(jitterMs(5_000, () => 0.5)).toBe(5_000);
  });

  it('stop at a number of attempts and a time, and reset after progress', () => {
    const retries = new Retries(reconnectOf({ attemptsMax: 2, totalMs: 5_000 }), () => 1);
    expect([retries.next('at_once', 0), retries.next('at_once', 0), retries.next('back_off', 0)]).toEqual([
      0,
      500,
      undefined,
    ]);
    retries.reset();
    expect([retries.next('back_off', 9_000), retries.next('back_off', 13_999)]).toEqual([250, undefined]);
    retries.reset();
    expect([retries.next('stop', 0), retries.next('back_off', 0), retries.attempts]).toEqual([undefined, 250, 1]);
    expect(new Retries(reconnectOf(false)).next('at_once', 0)).toBeUndefined();
  });

  it('understand both forms of Retry-After', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(
      ['7', '0.5', '-3', 'Thu, 01 Jan 2026 00:00:09 GMT', 'Wed, 31 Dec 2025 00:00:00 GMT', 'soon', '', null].map(
        (text) => retryAfterSeconds(text, now),
      ),
    ).toEqual([7, 0.5, 0, 9, 0, undefined, undefined, undefined]);
  });
});

it('amounts are added exactly', () => {
  expect([sum('0', '0.00'), sum('0.1', '0.2'), sum('9.999999', '0.000001'), sum('12', '3')]).toEqual([
    '0.00',
    '0.3',
    '10.000000',
    '15',
  ]);
});

it('fallbacks are slugs with commas, or JSON where one has options', () => {
  expect(fallbacksText(undefined)).toBeUndefined();
  expect(fallbacksText([])).toBeUndefined();
  expect(fallbacksText(['a/b', 'c/d'])).toBe('a/b,c/d');
  expect(fallbacksText(['a/b', { model: 'c/d', providerParams: { e: 1 }, credential: 'own' }])).toBe(
    '["a/b",{"model":"c/d","provider_params":{"e":1},"credential":"own"}]',
  );
});
