// A file by HTTP: what is sent arrives byte for byte, the job goes on until it is done, and nothing is waited for when nobody
// waits for the job, or left behind.
import fc from 'fast-check';
import type { Pool } from 'undici';
import { describe, expect, it } from 'vitest';
import { HttpPools, type PoolPlace } from '../../../src/live/upstream/http/pools.ts';
import { LegFailed } from '../../../src/live/upstream/leg-failures.ts';
import type { HttpBatchCodec } from '../../../src/vendors/kit/provider.ts';
import { timersOf } from '../session/support.ts';
import { type Answer, type Arrived, answer, type HttpProvider, scriptedCodec } from './http-batch-fixture.ts';
import { AUDIO, chunksOf, closers, type World, world } from './http-batch-world.ts';

describe('a file', () => {
  const content = fc.uint8Array({ minLength: 1, maxLength: 200_000, size: 'max' });

  it('arrives byte for byte in chunks of any size, with its length where that is known', async () => {
    const made = await world();
    await fc.assert(
      fc.asyncProperty(content, fc.integer({ min: 1, max: 90_000 }), fc.boolean(), async (bytes, size, isKnown) => {
        made.provider.arrived.length = 0;
        // Tiny pieces of a large file are nothing but slow.
        const pieces = Math.max(size, Math.ceil(bytes.length / 500));
        const file = isKnown ? { bytes: bytes.length } : {};
        await made.run(scriptedCodec(), () => chunksOf(bytes, pieces), file);
        const [arrived] = made.provider.arrived;
        expect(arrived?.body.equals(bytes)).toBe(true);
        expect(arrived?.headers['content-length']).toBe(isKnown ? String(bytes.length) : undefined);
        expect(arrived?.headers['content-type']).toBe('audio/wav');
      }),
      { numRuns: 30 },
    );
  });

  it('arrives in a form with its fields, whose length is known where the file’s is', async () => {
    const made = await world();
    await fc.assert(
      fc.asyncProperty(content, fc.boolean(), async (bytes, isKnown) => {
        made.provider.arrived.length = 0;
        await made.run(
          scriptedCodec({ body: 'multipart' }),
          () => chunksOf(bytes, 50_000),
          isKnown ? { bytes: bytes.length } : {},
        );
        const { headers, body } = made.provider.arrived[0]!;
        expect(headers['content-length']).toBe(isKnown ? String(body.length) : undefined);
        const form = await new Response(body, {
          headers: { 'content-type': headers['content-type'] ?? '' },
        }).formData();
        const file = form.get('file') as File;
        expect([form.get('model'), form.get('prompt "quoted"'), file.name, file.type]).toEqual([
          'one',
          'names: Zoë',
          'audio.wav',
          'audio/wav',
        ]);
        expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true);
      }),
      { numRuns: 15 },
    );
  });

  it('follows the provider’s pace, within a maximum wait', async () => {
    const made = await world();
    made.provider.early = () => true;
    let taken = 0;
    async function* endless() {
      for (; taken < 1_000_000_000; taken += 65_536) yield Buffer.alloc(65_536);
    }
    let isStuck = () => {};
    const stuck = new Promise<void>((resolve) => {
      isStuck = resolve;
    });
    // The upload stands still when a turn of the event loop after the other takes nothing more.
    let seen = -1;
    let still = 0;
    const look = () => {
      still = taken > 0 && taken === seen ? still + 1 : 0;
      seen = taken;
      if (still < 200) setImmediate(look);
      else isStuck();
    };
    const failed = made.failure(scriptedCodec({ answerMs: 5_000 }), endless);
    look();
    await stuck;
    expect(taken).toBeLessThan(32_000_000);
    made.clock.increment(5_000);
    expect(await failed).toMatchObject({ kind: 'next', reason: 'stalled', code: 'upload_stalled' });
    expect([timersOf(made.clock), taken]).toEqual([0, seen]);
  });

  it('ends the job with its own error when it fails on its way', async () => {
    const made = await world();
    const broken = new Error('The upload broke off.');
    async function* breaking() {
      yield AUDIO;
      throw broken;
    }
    await expect(made.run(scriptedCodec(), breaking)).rejects.toBe(broken);
    await made.expectNothingLeft();
  });

  it('waits for a slow client without a limit', async () => {
    const made = await world();
    let give = () => {};
    async function* slow() {
      yield AUDIO;
      await new Promise<void>((resolve) => {
        give = resolve;
      });
      yield AUDIO;
    }
    const done = made.run(scriptedCodec({ answerMs: 1_000 }), slow);
    let began = false;
    made.provider.early = () => {
      began = true;
      return false;
    };
    await made.provider.until(() => began);
    for (let minute = 0; minute < 10; minute++) {
      made.clock.increment(60_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    give();
    expect(await done).toMatchObject({ utterances: [{ text: 'hello' }] });
  });
});

describe('a job', () => {
  const POLLED = [answer({ next: '/jobs/1', after_ms: 500 }), answer({ next: '/jobs/1', after_ms: 700 })];

  /** The clock runs far ahead of the network in these. */
  const patient = scriptedCodec({ answerMs: 10_000_000 });

  /** Moves the clock past the pauses until the run has settled. */
  async function advance(made: World, run: Promise<unknown>): Promise<void> {
    const over = { now: false };
    run
      .catch(() => {})
      .finally(() => {
        over.now = true;
      });
    while (!over.now) {
      made.clock.increment(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('gets polled by the clock until it is done', async () => {
    const made = await world([...POLLED, answer({ text: 'done', seconds: 3 })]);
    const run = made.run(patient);
    await advance(made, run);
    expect(await run).toMatchObject({ utterances: [{ text: 'done' }], seconds: 3 });
    expect(made.provider.arrived.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /files?model=one',
      'GET /jobs/1',
      'GET /jobs/1',
    ]);
    expect(made.clock.now()).toBeGreaterThanOrEqual(1_200);
    await made.expectNothingLeft();
  });

  it('survives two polls that fail in passing, and not a third', async () => {
    const failing = [answer({}, 503), answer({}, 500)];
    const lucky = await world([POLLED[0] as Answer, ...failing, answer({ text: 'done' })]);
    const run = lucky.run(patient);
    await advance(lucky, run);
    expect(await run).toMatchObject({ utterances: [{ text: 'done' }] });
    const unlucky = await world([POLLED[0] as Answer, ...failing, answer({}, 502)]);
    const failed = unlucky.failure(patient);
    await advance(unlucky, failed);
    expect(await failed).toMatchObject({ code: 'http_502' });
    // One POST, three polls, and the word that nobody waits any more.
    await unlucky.provider.until(() => unlucky.provider.arrived.length === 5);
    expect(unlucky.provider.arrived.at(-1)).toMatchObject({ method: 'DELETE', path: '/jobs/1' });
  });

  it.each([
    ['done', answer({ text: 'done' }), true],
    ['failed', answer('<html>', 200, { 'content-type': 'text/html' }), true],
    ['kept', answer({ text: 'done' }), false],
  ])('gets deleted if it is %s, at a provider that keeps its input', async (_, last, removesDone) => {
    const made = await world([answer({ next: '/jobs/1' }), last]);
    await made.run({ ...scriptedCodec(), removesDone }).catch(() => {});
    const asked = removesDone ? 3 : 2;
    await made.provider.until(() => made.provider.arrived.length === asked);
    expect(made.provider.arrived.filter(({ method }) => method === 'DELETE')).toHaveLength(asked - 2);
  });

  it('gives up after a maximum number of requests', async () => {
    const made = await world([answer({ next: '/jobs/1' })]);
    expect(await made.failure()).toMatchObject({ kind: 'next', code: 'request_limit' });
    expect(made.provider.arrived.filter(({ method }) => method !== 'DELETE')).toHaveLength(2_000);
  });

  const silent: Answer = () => {};
  it.each<[string, (provider: HttpProvider) => void]>([
    [
      'while the file is sent',
      (provider) => {
        provider.early = () => true;
      },
    ],
    [
      'before the answer',
      (provider) => {
        provider.answers = [silent];
      },
    ],
    [
      'within the answer',
      (provider) => {
        provider.answers = [(response) => response.write('{"te')];
      },
    ],
    ['between two polls', () => {}],
  ])(
    'ends at once when aborted %s, notifies the provider where possible, and leaves nothing',
    async (when, prepare) => {
      const made = await world([POLLED[0] as Answer, silent]);
      prepare(made.provider);
      async function* forever() {
        yield AUDIO;
        await new Promise(() => {});
      }
      let hasRead = () => {};
      const isRead = new Promise<void>((resolve) => {
        hasRead = resolve;
      });
      const codec = scriptedCodec();
      const read: HttpBatchCodec['read'] = (state, said) => {
        setImmediate(hasRead);
        return codec.read(state, said);
      };
      const isSending = when === 'while the file is sent';
      const run = made.run({ ...codec, read }, isSending ? forever : undefined);
      const outcome = run.catch((thrown: unknown) => thrown);
      if (isSending) await made.provider.until(() => made.provider.sockets.size === 1);
      else await made.provider.until(() => made.provider.arrived.length === 1);
      if (when === 'between two polls') await isRead;
      const reason = new Error('The client went away.');
      made.end.abort(reason);
      expect(await outcome).toBe(reason);
      if (when === 'between two polls') {
        await made.provider.until(() => made.provider.arrived.length === 2);
        expect(made.provider.arrived[1]).toMatchObject({ method: 'DELETE', path: '/jobs/1' });
        // That it is not answered keeps nothing for longer than this.
        made.clock.increment(5_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await made.expectNothingLeft();
    },
  );

  it('calls no provider when aborted before it began', async () => {
    const made = await world();
    made.end.abort(new Error('gone'));
    await expect(made.run(scriptedCodec())).rejects.toThrow('gone');
    expect(made.provider.sockets.size).toBe(0);
  });

  it('does not wait for a connection longer than it lasts, and no more jobs wait than may', async () => {
    const made = await world([() => {}], { connectionsMax: 1, waitingMax: 1 });
    const first = made.run(scriptedCodec()).catch((thrown: unknown) => thrown);
    await made.provider.until(() => made.provider.arrived.length === 1);
    const ends = [made.end, new AbortController()];
    made.end = ends[1] as AbortController;
    const second = made.run(scriptedCodec()).catch((thrown: unknown) => thrown);
    expect(await made.failure()).toMatchObject({ kind: 'next', code: 'pool_full' });
    const reason = new Error('gone');
    for (const [index, waiting] of [second, first].entries()) {
      ends[1 - index]?.abort(reason);
      expect(await waiting).toBe(reason);
    }
    await made.expectNothingLeft();
  });

  it('waits for a connection as long as for an answer, and says that the gateway had none', async () => {
    const made = await world([() => {}], { connectionsMax: 1 });
    const held = made.run(scriptedCodec({ answerMs: 60_000 })).catch(() => {});
    await made.provider.until(() => made.provider.arrived.length === 1);
    const late = made.failure(scriptedCodec({ answerMs: 1_000 }));
    await new Promise((resolve) => setImmediate(resolve));
    made.clock.increment(1_000);
    expect(await late).toMatchObject({ kind: 'next', code: 'pool_full', own: true });
    made.end.abort();
    await held;
    await made.expectNothingLeft();
  });

  it('serves an organisation while another has all connections and places to wait that it may have', async () => {
    const isHeld = ({ body }: Arrived) => body.includes('held');
    const made = await world(
      [(response, arrived) => (isHeld(arrived) ? undefined : answer({ text: 'hello' })(response, arrived))],
      { connectionsMax: 8, waitingMax: 8 },
    );
    const run = (content: string, organisationId: string) =>
      made.run(scriptedCodec(), () => chunksOf(Buffer.from(content)), {}, { organisationId });
    const crowd = Promise.allSettled(Array.from({ length: 40 }, () => run('held', 'crowd')));
    for (let count = 0; count < 5; count++)
      expect(await run('quick', 'other')).toMatchObject({ utterances: [{ text: 'hello' }] });
    expect(made.provider.arrived.filter(isHeld)).toHaveLength(4);
    made.end.abort(new Error('gone'));
    const reasons = (await crowd).map((each) => (each.status === 'rejected' ? each.reason : undefined));
    expect(reasons.filter((reason) => reason instanceof LegFailed)).toHaveLength(32);
    await made.expectNothingLeft();
  });
});

describe('the pools of a node', () => {
  it('stay one per origin, and the least recently used gives way', () => {
    const pools = new HttpPools({ originsMax: 2 });
    const enter = (name: string) => {
      const place = pools.enter(`http://${name}.test`, 'org_a');
      place?.leave();
      return place?.pool as Pool;
    };
    const [a, b] = ['a', 'b'].map(enter) as [Pool, Pool];
    expect(enter('a')).toBe(a);
    enter('c');
    expect([a.closed, b.closed]).toEqual([false, true]);
    closers.push(() => pools.close());
  });

  it('closes no pool that is in use while another one is idle', () => {
    const pools = new HttpPools({ originsMax: 2 });
    const [a, b] = ['a', 'b'].map((name) => pools.enter(`http://${name}.test`, 'org_a')) as [PoolPlace, PoolPlace];
    b.leave();
    pools.enter('http://c.test', 'org_a');
    expect([a, b].map(({ pool }) => (pool as Pool).closed)).toEqual([false, true]);
    closers.push(() => pools.close());
  });
});
