// Live sessions of the client against a real gateway, in Node: audio in every form, limits of what waits, and ends.
import { createReadStream } from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type LiveSession,
  type SessionEvent,
  type Transcript,
  Voxgate,
  VoxgateError,
} from '../../clients/typescript/src/index.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../fakes/audio/numbered-finals.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';

let live: LiveGateway;
let client: Voxgate;
beforeAll(async () => {
  live = await startLiveGateway();
  client = new Voxgate({ apiKey: live.key, baseUrl: live.url });
});
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const NUMBERED = { model: 'loopback/numbered', providerParams: { turn_seconds: 0.5 } } as const;

async function finalsOf(session: LiveSession): Promise<Transcript[]> {
  const finals: Transcript[] = [];
  for await (const final of session.finals()) finals.push(final);
  return finals;
}

it.each([
  ['mark', 'Thank you.', true],
  ['drop', '', true],
  ['off', 'Thank you.', undefined],
] as const)('text for silence with the option speechGate: %s', async (speechGate, text, noSpeech) => {
  const providerParams = { turns: [{ text: 'Thank you.', seconds: 600 }] };
  const session = client.listen({ model: 'loopback/script', providerParams, speechGate });
  const finals = finalsOf(session);
  await session.send(new Uint8Array(64_000));
  await session.close();
  expect((await finals)[0]).toMatchObject({ text, ...(noSpeech && { no_speech: true }) });
  expect((await finals)[0]?.no_speech).toBe(noSpeech);
});

describe('speech of a file', () => {
  it('becomes finals, by the embedded recogniser, with a summary of what it cost', async () => {
    const { pcm, sampleRate } = sampleAudio('commands.wav');
    const session = client.listen({ model: 'local/commands-en', sampleRate, interimResults: false });
    const finals = finalsOf(session);
    await session.send(pcm);
    const summary = await session.close();
    expect((await finals).map(({ text }) => text)).toEqual([
      'turn on the kitchen lights',
      'set a timer for ten minutes',
      "what's the weather tomorrow",
      'play some jazz',
      'call mom',
    ]);
    expect(summary).toMatchObject({
      reason: 'client_closed',
      costUsd: '0.00',
      isUsageComplete: true,
      reconnections: 0,
    });
    expect(summary.usage).toMatchObject([{ model: 'local/commands-en', seconds: 15.396, byok: false }]);
  });

  const bytes = numberedAudio(0, 20_000);
  it.each<[string, () => Parameters<LiveSession['pipe']>[0]]>([
    [
      'an async iterable of Uint8Array',
      async function* () {
        for (let at = 0; at < bytes.length; at += 1_001) yield bytes.subarray(at, at + 1_001);
      },
    ],
    [
      'an async iterable of Int16Array',
      async function* () {
        yield new Int16Array(bytes.buffer, 0, 5_000);
        yield new Int16Array(bytes.buffer, 10_000, 15_000);
      },
    ],
    [
      'an async iterable of ArrayBuffer',
      async function* () {
        yield bytes.buffer as ArrayBuffer;
      },
    ],
    ['a web stream', () => new Blob([bytes as Uint8Array<ArrayBuffer>]).stream()],
  ])('pipes from %s', async (_, source) => {
    const session = client.listen(NUMBERED);
    const finals = finalsOf(session);
    expect(await session.pipe(source())).toBe(40_000);
    await session.close();
    expectWhole(await finals, 20_000);
  });

  it('pipes from a file of Node', async () => {
    const session = client.listen({ model: 'loopback/script' });
    const path = new URL('../fixtures/audio/yes.wav', import.meta.url);
    const sent = await session.pipe(createReadStream(path, { start: 44 }));
    expect((await session.close()).audioSeconds).toBeCloseTo(sent / 32_000, 4);
  });
});

describe('a pipe', () => {
  it('ends with the reason of its signal, and the session continues', async () => {
    const session = client.listen(NUMBERED);
    const finals = finalsOf(session);
    const controller = new AbortController();
    let isReturned = false;
    const source = {
      async *[Symbol.asyncIterator]() {
        try {
          yield numberedAudio(0, 8_000);
          controller.abort(new Error('enough'));
          yield numberedAudio(8_000, 16_000);
        } finally {
          isReturned = true;
        }
      },
    };
    await expect(session.pipe(source, { signal: controller.signal })).rejects.toThrow('enough');
    await session.close();
    expectWhole(await finals, 8_000);
    expect(isReturned).toBe(true);
  });

  it('ends while its source says nothing: by the signal, and by the end of the session', async () => {
    const never = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const session = client.listen(NUMBERED);
    const controller = new AbortController();
    const piping = session.pipe(never, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(piping).rejects.toThrow('enough');
    const other = session.pipe(never);
    session.terminate();
    expect(await other).toBe(0);
  });

  it('rejects with what its source throws', async () => {
    const session = client.listen(NUMBERED);
    const broken = async function* () {
      yield numberedAudio(0, 10);
      throw new Error('unplugged');
    };
    await expect(session.pipe(broken())).rejects.toThrow('unplugged');
    session.terminate();
  });
});

describe('`send`', () => {
  it('waits while the socket has no room, and loses nothing', { timeout: 60_000 }, async () => {
    const session = client.listen({ ...NUMBERED, providerParams: { turn_seconds: 20 } });
    const finals = finalsOf(session);
    const seconds = 300;
    let waited = 0;
    for (let second = 0; second < seconds; second++) {
      let isSent = false;
      const sent = session.send(numberedAudio(second * 16_000, (second + 1) * 16_000)).then(() => {
        isSent = true;
      });
      await Promise.resolve();
      await Promise.resolve();
      await Promise.resolve();
      if (!isSent) waited++;
      await sent;
    }
    expect(waited).toBeGreaterThan(0);
    await session.close();
    expectWhole(await finals, seconds * 16_000);
  });

  it('copies: the caller may use its buffer again at once', async () => {
    const session = client.listen(NUMBERED);
    const finals = finalsOf(session);
    const buffer = new Uint8Array(3_200);
    for (let at = 0; at < 16_000; at += 1_600) {
      buffer.set(numberedAudio(at, at + 1_600));
      void session.send(buffer);
    }
    await session.close();
    expectWhole(await finals, 16_000);
  });

  it('ends the session when its queue overflows without a connection', async () => {
    const session = new Voxgate({ apiKey: live.key, baseUrl: 'http://127.0.0.1:9' }).listen(NUMBERED);
    const mebibyte = new Uint8Array(1_048_576);
    for (let count = 0; count < 16; count++) void session.send(mebibyte);
    await expect(session.send(mebibyte)).rejects.toMatchObject({ code: 'send_queue_full' });
    await expect(session.close()).rejects.toMatchObject({ code: 'send_queue_full' });
  });

  it('fails after `close`, and for data that is not audio', async () => {
    const session = client.listen(NUMBERED);
    await expect(session.send('audio' as never)).rejects.toMatchObject({ code: 'invalid_option', param: 'data' });
    const closed = session.close();
    await expect(session.send(new Uint8Array(2))).rejects.toMatchObject({ code: 'session_over' });
    expect(() => session.finalize()).toThrow(VoxgateError);
    await closed;
  });
});

it('ends the turn at `finalize`, before anything sent later', async () => {
  const session = client.listen({ model: 'loopback/numbered', providerParams: { turn_seconds: 100 } });
  const finals = finalsOf(session);
  for (const [from, to] of [
    [0, 3_000],
    [3_000, 3_800],
    [3_800, 20_000],
  ] as const) {
    void session.send(numberedAudio(from, to));
    session.finalize();
  }
  await session.close();
  const all = await finals;
  expectWhole(all, 20_000);
  expect(all.map(({ end }) => Math.round(end * 16_000))).toEqual([3_000, 3_800, 20_000]);
});

it('queues unread events up to a bound, then ends the session with the reason', async () => {
  const session = client.listen({ ...NUMBERED, providerParams: { turn_seconds: 0.05 }, eventsMax: 16 });
  await session.send(numberedAudio(0, 64_000));
  await expect(session.close()).rejects.toMatchObject({ code: 'event_queue_full' });
  const read: SessionEvent[] = [];
  await expect(
    (async () => {
      for await (const event of session) read.push(event);
    })(),
  ).rejects.toMatchObject({ code: 'event_queue_full' });
  expect(read).toHaveLength(16);
});

describe('a session that is ended from outside', () => {
  it('ends the iteration without an error by `terminate`', async () => {
    const session = client.listen(NUMBERED);
    for await (const event of session) if (event.type === 'session_started') session.terminate();
    expect(await session.close()).toMatchObject({ reason: 'terminated', isUsageComplete: false });
  });

  it.each(['before', 'during'])('fails with its signal’s reason, %s it is open', async (when) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    if (when === 'before') controller.abort(reason);
    const session = client.listen({ ...NUMBERED, signal: controller.signal });
    const read = async () => {
      for await (const event of session) if (event.type === 'session_started') controller.abort(reason);
    };
    await expect(read()).rejects.toBe(reason);
    await expect(session.close()).rejects.toBe(reason);
  });
});

it('leaving the loop does not end the session', async () => {
  const session = client.listen(NUMBERED);
  await session.send(numberedAudio(0, 16_000));
  const finals: Transcript[] = [];
  const readOne = async () => {
    for await (const event of session) {
      if (event.type !== 'transcript' || !event.is_final) continue;
      finals.push(event);
      break;
    }
  };
  await readOne();
  await readOne();
  await session.close();
  expectWhole(finals, 16_000);
});

it.each([
  ['an unknown model', { model: 'local/nobody' }, { code: 'model_not_found', closeCode: 4004, name: 'NotFoundError' }],
  [
    'bad options',
    { model: 'loopback/numbered', providerParams: { dear: 1 } as Record<string, unknown> },
    { code: 'invalid_provider_params', closeCode: 4000 },
  ],
])('refuses a session with %s in the gateway’s own words', async (_, options, expected) => {
  await expect(client.listen(options).close()).rejects.toMatchObject(expected);
});

it('begins with a model that the gateway chooses, and changes to another choice', async () => {
  const session = client.listen({ model: 'auto', prefer: 'latency', price: 'never_dearer', language: 'en' });
  session.configure({ fallbacks: ['auto'], prefer: 'price', price: 'cheapest' });
  void session.close();
  const choices = [];
  for await (const event of session)
    if (event.type === 'session_started' || event.type === 'configured') choices.push(event.choice?.[0]?.model);
  expect(choices[0]).toBe('local/dictation-en');
});

it('takes options that no URL can hold, in a first message', async () => {
  const turns = Array.from({ length: 20 }, (_, index) => ({ text: `${index} ${'x'.repeat(1_000)}`, seconds: 0.1 }));
  const session = client.listen({
    model: 'loopback/script',
    sampleRate: 8_000,
    suspendSeconds: 60,
    returnToPrimary: true,
    standby: false,
    turnEvents: true,
    providerParams: { turns },
  });
  const finals = finalsOf(session);
  await session.send(new Uint8Array(16_000 * 2));
  await session.close();
  expect((await finals).map(({ text }) => text)).toEqual(turns.map(({ text }) => text));
});
