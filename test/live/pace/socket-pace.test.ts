// How fast a socket may send, by a clock that is moved by hand.
import { describe, expect, test } from 'vitest';
import { type Excess, type PaceSettings, SocketPaces, TokenBucket } from '../../../src/live/pace/socket-pace.ts';

const SETTINGS: PaceSettings = {
  socketFramesPerSecondMax: 100,
  socketBytesPerSecondMax: 100_000,
  socketMessagesPerSecondMax: 10,
  organisationFramesPerSecondMax: 4_000,
  organisationMessagesPerSecondMax: 150,
  largeMessagesMax: 4,
  largeMessageSocketsMax: 4,
};

function rig(settings: Partial<PaceSettings> = {}) {
  const time = { ms: 0 };
  const paces = new SocketPaces({ ...SETTINGS, ...settings }, () => time.ms);
  const excesses: Excess[] = [];
  return {
    time,
    paces,
    excesses,
    open: (organisation = 'a') => paces.open(organisation, (excess) => excesses.push(excess)),
  };
}

test('lets a burst pass, then limits, and refills after a while', () => {
  const bucket = new TokenBucket(10, 20, 0);
  expect([bucket.take(20, 0), bucket.take(1, 0), bucket.take(1, 0)]).toEqual([0, 100, 200]);
  expect([bucket.take(0, 200), bucket.take(20, 10_000), bucket.take(1, 10_000)]).toEqual([0, 0, 100]);
});

describe('a socket', () => {
  test('may send four seconds’ worth of frames at once, and waits for what it sends beyond', () => {
    const { open, time } = rig();
    const pace = open();
    const waits = Array.from({ length: 402 }, () => pace.take(640, true, true));
    expect([Math.max(...waits.slice(0, 400)), waits[400], waits[401]]).toEqual([0, 10, 20]);
    time.ms = 15;
    expect(pace.owedMs()).toBe(5);
  });

  test('waits for bytes in the same way at any frame size', () => {
    const pace = rig().open();
    expect([pace.take(400_000, true, true), pace.take(50_000, true, true)]).toEqual([0, 500]);
  });

  test('may send audio frames at full speed, even where it cannot be paused', () => {
    const { open, excesses } = rig();
    const pace = open();
    let refused = 0;
    for (let frame = 0; frame < 100_000; frame++) {
      if (!Number.isFinite(pace.take(640, true, true))) refused++;
      if (pace.take(640, true, false) !== 0) refused++;
    }
    expect([refused, excesses]).toEqual([0, []]);
  });

  test.each([1, 32, 100])('may send a minute of audio, or a MiB, in frames of %i bytes at once', (bytes) => {
    const { open, excesses } = rig();
    const pace = open();
    for (let frames = Math.min(1_048_576, 1_920_000 / bytes); frames > 0; frames--) pace.take(bytes, true, false);
    expect([pace.take(bytes, true, false), excesses]).toEqual([0, []]);
  });

  test('may not send endless tiny frames where it cannot be paused', () => {
    const { open } = rig();
    const pace = open();
    for (let frame = 0; frame < 1_270_000; frame++) pace.take(1, true, false);
    expect([pace.take(1, true, true) < Number.POSITIVE_INFINITY, pace.take(1, true, false)]).toEqual([
      true,
      Number.POSITIVE_INFINITY,
    ]);
  });

  test.each([true, false])('may not send text beyond ten seconds’ worth (waits: %s)', (canWait) => {
    const { open, time } = rig();
    const pace = open();
    for (let second = 0; second < 100; second++) {
      for (let message = 0; message < 10; message++) expect(pace.take(20, false, canWait)).toBeLessThan(Infinity);
      time.ms += 1_000;
    }
    const waits = Array.from({ length: 101 }, () => pace.take(0, false, canWait));
    expect(waits.indexOf(Number.POSITIVE_INFINITY)).toBe(100);
  });

  test('hits the limit earlier with long text, because all of it is parsed', () => {
    const pace = rig().open();
    const waits = Array.from({ length: 3 }, () => pace.take(60 * 1024, false, true));
    expect(waits).toEqual([0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
  });

  test('waits for the pieces of its messages as for frames', () => {
    const pace = rig().open();
    expect([pace.fragments(400), pace.fragments(10)]).toEqual([0, 100]);
  });
});

describe('an organisation', () => {
  test('waits on all of its sockets for what they send together, and others do not', () => {
    const { open } = rig();
    const sockets = Array.from({ length: 100 }, () => open('loud'));
    const waits = sockets.flatMap((pace) => Array.from({ length: 20 }, () => pace.take(640, true, true)));
    expect([waits.filter((waitMs) => waitMs > 0).length, waits.at(-1)]).toEqual([1_000, 250]);
    expect(sockets[0]!.owedMs()).toBe(250);
    expect(open('quiet').take(640, true, true)).toBe(0);
  });

  test('loses the sockets that flood with text, and not the quiet one', () => {
    const { open } = rig();
    const calm = open('loud');
    const loud = Array.from({ length: 3 }, () => open('loud'));
    const waits = loud.flatMap((pace) => Array.from({ length: 100 }, () => pace.take(0, false, false)));
    expect(waits.indexOf(Number.POSITIVE_INFINITY)).toBe(150);
    expect(calm.take(0, false, false)).toBe(0);
    expect(calm.take(0, false, true)).toBeGreaterThan(0);
  });

  test('loses the sockets that flood with tiny frames, and none at a normal pace', () => {
    const { open } = rig();
    const calm = open('loud');
    const loud = Array.from({ length: 40 }, () => open('loud'));
    const takes = (pace: (typeof loud)[number]) => Array.from({ length: 20_000 }, () => pace.take(1, true, false));
    const refused = () => loud.flatMap(takes).filter((waitMs) => waitMs > 0).length;
    expect([refused(), refused()]).toEqual([0, 39 * 20_000 - 300_000]);
    expect(calm.take(32, true, false)).toBe(0);
    for (const pace of loud) pace.release();
    // Its own budget is new with a socket, and what is beyond it is not.
    const again = open('loud');
    for (let round = 0; round < 64; round++) takes(again);
    expect([again.take(1, true, false), open('loud').take(1, true, false)]).toEqual([Number.POSITIVE_INFINITY, 0]);
  });

  test('disappears with its last socket, but not while it owes', () => {
    const { open, paces } = rig();
    const first = open('a');
    first.release();
    expect(paces.size).toBe(0);
    const second = open('a');
    for (let frame = 0; frame < 2_000; frame++) second.take(640, true, true);
    second.release();
    expect(paces.size).toBe(1);
    expect(open('a').take(640, true, true)).toBeGreaterThan(0);
  });
});

describe('a socket whose audio comes in text', () => {
  const AUDIO = {
    ...{ bytes: 980, isBinary: false, pieces: 1, audioBytes: 640 },
    ...{ isAnswered: false, saysMore: false },
  };
  const MESSAGE = { ...AUDIO, pieces: 0, audioBytes: 0, saysMore: true };

  test('fails once, when messages without audio exceed ten seconds’ worth', () => {
    const { paces, excesses } = rig();
    const pace = paces.open('a', (excess) => excesses.push(excess), true);
    for (let message = 0; message < 1_000; message++) pace.read(AUDIO);
    for (let message = 0; message < 100; message++) pace.read(MESSAGE);
    expect(excesses).toEqual([]);
    for (let message = 0; message < 100; message++) pace.read(MESSAGE);
    pace.exceeded();
    expect(excesses).toEqual(['messages']);
  });

  test('waits for the messages of its organisation where it has said many of them, and not where it sends audio', () => {
    const { paces } = rig();
    const [calm, ...loud] = [0, 1, 2].map(() => paces.open('a', () => {}, true));
    for (const pace of loud) for (let message = 0; message < 90; message++) pace.read(MESSAGE);
    expect(loud.map((pace) => pace.take(640, false, true))).toEqual([200, 200]);
    expect(loud[0]?.take(640, false, false)).toBe(Number.POSITIVE_INFINITY);
    expect([calm?.take(640, false, true), calm?.take(640, false, false)]).toEqual([0, 0]);
  });
});

test('releases a socket’s share once, for any number of releases', () => {
  const { open, paces } = rig();
  const [gone, there] = [open('a'), open('a')];
  for (let time = 0; time < 3; time++) gone.release();
  expect(paces.size).toBe(1);
  there.release();
  expect(paces.size).toBe(0);
});

test('reports the exceeded limit once, by name', () => {
  const { open, excesses } = rig();
  const pace = open();
  for (let message = 0; message < 200; message++) pace.take(0, false, true);
  pace.exceeded();
  expect(excesses).toEqual(['messages']);
});

describe('sockets of a server that cannot see a message before it is whole', () => {
  test('may send large ones while there are places, half of them of one organisation, until they close', () => {
    const { open } = rig();
    const greedy = [open(), open(), open()];
    expect(greedy.map((pace) => [pace.mayBeLarge(), pace.messageBytesMax])).toEqual([
      [true, Number.POSITIVE_INFINITY],
      [true, Number.POSITIVE_INFINITY],
      [false, 1_048_576],
    ]);
    expect([open('b').mayBeLarge(), open('c').mayBeLarge(), open('d').mayBeLarge()]).toEqual([true, true, false]);
    for (const pace of [greedy[0]!, greedy[0]!, greedy[2]!]) pace.release();
    expect([open().mayBeLarge(), open('d').mayBeLarge()]).toEqual([false, true]);
  });

  test('take one slot per session, however often its client reconnects', () => {
    const { open } = rig();
    const [other, large, small] = [open(), open(), open()];
    expect(other.mayBeLarge()).toBe(true);
    for (let socket = 0; socket < 3; socket++) expect([large.mayBeLarge(), small.mayBeLarge()]).toEqual([true, false]);
    large.release();
    expect([small.mayBeLarge(), small.messageBytesMax]).toEqual([false, 1_048_576]);
    expect([open().mayBeLarge(), open().mayBeLarge()]).toEqual([true, false]);
  });

  test('take no slot when they were refused', () => {
    const { paces, open } = rig({ largeMessageSocketsMax: 2 });
    expect(paces.refused().mayBeLarge()).toBe(false);
    expect([open('a').mayBeLarge(), open('b').mayBeLarge()]).toEqual([true, true]);
  });
});

describe('the place of a large message', () => {
  const places = () => {
    const { open } = rig({ largeMessagesMax: 1 });
    const order: string[] = [];
    const first = open('a');
    const second = open('b');
    return { order, first, second, enters: (pace: typeof first, name: string) => pace.enter(() => order.push(name)) };
  };

  test('passes on when the message is processed, not when it has arrived', () => {
    const { order, first, second, enters } = places();
    expect([enters(first, 'first'), enters(second, 'second')]).toEqual([true, false]);
    first.taking();
    first.leave();
    expect(order).toEqual([]);
    first.taken();
    expect(order).toEqual(['second']);
  });

  test('stays with a socket whose next message began and waits for the one before', () => {
    const { order, first, second, enters } = places();
    enters(first, 'first');
    first.taking();
    first.leave();
    expect([enters(first, 'first again'), enters(second, 'second')]).toEqual([false, false]);
    first.taken();
    expect(order).toEqual(['first again']);
    first.leave();
    expect(order).toEqual(['first again', 'second']);
  });

  test('frees up once, even with a message being processed as the socket closes', () => {
    const { order, first, second, enters } = places();
    enters(first, 'first');
    first.taking();
    first.leave();
    enters(second, 'second');
    first.release();
    first.taken();
    expect(order).toEqual(['second']);
    expect(enters(first, 'first')).toBe(false);
    second.leave();
    expect(order).toEqual(['second', 'first']);
  });

  test('stays when a message needed none', () => {
    const { order, first, second, enters } = places();
    enters(first, 'first');
    enters(second, 'second');
    second.taking();
    second.taken();
    expect(order).toEqual([]);
    first.leave();
    expect(order).toEqual(['second']);
  });
});
