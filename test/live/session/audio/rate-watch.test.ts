// When a sample rate looks wrong: audio that flows as from a microphone, at another speed than the clock's.
import { describe, expect, it } from 'vitest';
import { RateWatch } from '../../../../src/live/session/audio/format-watch.ts';
import { SessionRig } from '../../../fakes/session-rig.ts';
import { RATE, silence } from '../support.ts';

/** Ratios told in `seconds`, with `ratio` of real time arriving each `everyMs`. */
function watch(ratio: number, everyMs: number, seconds = 60): number[] {
  const rateWatch = new RateWatch(RATE);
  const told: number[] = [];
  let samples = 0;
  for (let nowMs = 0; nowMs <= seconds * 1000; nowMs += everyMs) {
    const suspect = rateWatch.note(samples, nowMs);
    if (suspect !== undefined) told.push(suspect);
    samples += (everyMs / 1000) * RATE * ratio;
  }
  return told;
}

describe('the rate watch', () => {
  it.each([
    [1, 20],
    [1.19, 20],
    [0.81, 100],
    [1, 500],
  ])('trusts %d times real time, every %d ms', (ratio, everyMs) => {
    expect(watch(ratio, everyMs)).toEqual([]);
  });

  it.each([
    [0.5, 20],
    [0.79, 100],
    [1.21, 20],
    [2, 100],
    [6, 250],
  ])('suspects %d times real time, every %d ms, once', (ratio, everyMs) => {
    expect(watch(ratio, everyMs)).toEqual([expect.closeTo(ratio, 2)]);
  });

  it.each([
    ['a file sent as fast as it goes', 50, 20],
    ['next to nothing', 0.05, 20],
    ['pauses of more than half a second', 0.5, 600],
  ])('suspects nothing of %s', (_, ratio, everyMs) => {
    expect(watch(ratio, everyMs)).toEqual([]);
  });

  it.each([1, 10, 60])(
    'suspects nothing where %d s come at once, as after a connection broke, then at the pace of speech',
    (seconds) => {
      const rateWatch = new RateWatch(RATE);
      for (let nowMs = 0; nowMs <= 60_000; nowMs += 50) {
        const replayed = Math.min(nowMs / 10, seconds);
        expect(rateWatch.note((replayed + nowMs / 1000) * RATE, nowMs)).toBeUndefined();
      }
    },
  );

  it('starts again after a pause', () => {
    const rateWatch = new RateWatch(RATE);
    let samples = 0;
    const note = (nowMs: number) => {
      samples += RATE / 10;
      return rateWatch.note(samples, nowMs);
    };
    for (let nowMs = 0; nowMs < 9_000; nowMs += 100) note(nowMs);
    // Three minutes of silence on the line.
    for (let nowMs = 180_000; nowMs < 240_000; nowMs += 100) expect(note(nowMs)).toBeUndefined();
  });

  it('warns the client once, and names sample_rate', async () => {
    const rig = new SessionRig();
    const client = await rig.open();
    for (let tenth = 0; tenth < 400; tenth++) {
      client.session.audio(silence(0.2));
      await rig.advance(100);
    }
    expect(client.of('warning')).toMatchObject([{ code: 'audio_rate_suspect', param: 'sample_rate' }]);
  });
});
