// Who works under an idempotency key, and who waits: by the clock, within bounds, and whatever the store does.

import { beforeEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import {
  AnswerSeal,
  type Begun,
  FormFingerprint,
  Idempotency,
  type IdempotentWork,
  readIdempotencyKey,
} from '../../src/http/idempotency.ts';
import type { WholeReply } from '../../src/http/server.ts';
import type { CallName } from '../../src/node/store/store.ts';
import type { StoreErrorReason } from '../../src/store/store-error.ts';
import { type DirectStore, directStore } from '../fakes/store/direct-store.ts';

const SECRET = Buffer.from('a secret of thirty-two characters');
const PRINT = new Uint8Array(32).fill(1);
const REPLY: WholeReply = { status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'said: naïve 🎈' };
const STAY = new AbortController().signal;

let rig: DirectStore;
let clock: SimulatedClock;
let faults: unknown[];
let node: Idempotency;
let organisationId: string;

let unkept: number;

const another = (secret = SECRET) =>
  new Idempotency({
    ...{ store: rig.store, secret, clock, waitMs: 10_000 },
    onFault: (error) => faults.push(error),
    onUnkept: () => unkept++,
  });

const replyOf = async (begun: Begun) => {
  if (begun.type !== 'done') throw new Error('It is not done yet.');
  return begun.before.replyTo(PRINT);
};

beforeEach(() => {
  rig = directStore();
  clock = new SimulatedClock();
  faults = [];
  unkept = 0;
  node = another();
  organisationId = rig.customer().organisationId;
});

const begin = (attempt: string, key = 'key', signal = STAY, on = node): Promise<Begun> =>
  on.begin(organisationId, key, attempt, signal);

async function work(attempt: string, key = 'key', on = node): Promise<IdempotentWork> {
  const begun = await begin(attempt, key, STAY, on);
  if (begun.type !== 'work') throw new Error('It is done already.');
  return begun.work;
}

/** What was asked for is under way as far as it goes without the clock. */
const calm = () => new Promise((resolve) => setImmediate(resolve));

function advance(ms: number): void {
  rig.clock.nowMs += ms;
  clock.increment(ms);
}

describe('a second request', () => {
  it('waits for the first, and is given its answer, byte for byte', async () => {
    const first = await work('req_1');
    const second = begin('req_2');
    await calm();
    expect([node.size, node.waiting]).toEqual([1, 1]);
    await first.finish(PRINT, REPLY);
    const begun = await second;
    const replayed = { ...REPLY, headers: { ...REPLY.headers, 'Idempotency-Replayed': 'true' } };
    expect(begun.type === 'done' && (await begun.before.replyTo(PRINT))).toEqual(replayed);
    expect([node.size, node.waiting]).toEqual([0, 0]);
  });

  it('fails with another body', async () => {
    await (await work('req_1')).finish(PRINT, REPLY);
    const begun = await begin('req_2');
    const reply = begun.type === 'done' && begun.before.replyTo(new Uint8Array(32).fill(2));
    await expect(reply).rejects.toMatchObject({ code: 'idempotency_conflict', status: 409 });
  });

  it('does the work itself when nothing came of the first; a third waits for it', async () => {
    const first = await work('req_1');
    const [second, third] = [begin('req_2'), begin('req_3')];
    await calm();
    await first.release();
    const begun = await second;
    await calm();
    expect([begun.type, node.waiting]).toEqual(['work', 1]);
    if (begun.type === 'work') await begun.work.finish(PRINT, REPLY);
    expect((await third).type).toBe('done');
  });

  it('waits so long and no longer, and leaves nothing behind', async () => {
    const first = await work('req_1');
    const second = begin('req_2');
    await calm();
    advance(10_000);
    await expect(second).rejects.toMatchObject({ code: 'idempotency_conflict', extras: { retryAfterSeconds: 5 } });
    expect(node.waiting).toBe(0);
    await first.finish(PRINT, REPLY);
  });

  it('ends its wait when its client goes away', async () => {
    const first = await work('req_1');
    const gone = new AbortController();
    const second = begin('req_2', 'key', gone.signal);
    await calm();
    gone.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    expect(node.waiting).toBe(0);
    await first.release();
  });

  it('gets a retry from another process, without waiting', async () => {
    const first = await work('req_1');
    const elsewhere = another();
    await expect(begin('req_2', 'key', STAY, elsewhere)).rejects.toMatchObject({
      code: 'idempotency_conflict',
      extras: { retryAfterSeconds: 5 },
    });
    expect(elsewhere.size).toBe(0);
    await first.release();
  });

  it('fails when eight wait for a key already', async () => {
    const first = await work('req_0');
    const waiting = Array.from({ length: 8 }, (_, index) => begin(`req_${index + 1}`));
    await calm();
    await expect(begin('req_9')).rejects.toMatchObject({ code: 'idempotency_conflict' });
    await first.finish(PRINT, REPLY);
    expect((await Promise.all(waiting)).map(({ type }) => type)).toEqual(Array(8).fill('done'));
  });

  it('fails when 128 wait for any key already', async () => {
    const firsts = await Promise.all(Array.from({ length: 17 }, (_, key) => work('req_0', `key ${key}`)));
    const waiting = Array.from({ length: 128 }, (_, index) => begin(`req_${index + 1}`, `key ${index % 16}`));
    await calm();
    await expect(begin('req_x', 'key 16')).rejects.toMatchObject({ code: 'idempotency_conflict' });
    for (const first of firsts) await first.finish(PRINT, REPLY);
    await Promise.all(waiting);
    expect(node.waiting).toBe(0);
  });
});

describe('the lease', () => {
  it('renews for as long as the work takes', async () => {
    const first = await work('req_1');
    for (let minute = 0; minute < 10; minute++) {
      advance(20_000);
      await calm();
      await expect(begin('req_2', 'key', STAY, another())).rejects.toMatchObject({ code: 'idempotency_conflict' });
    }
    await first.finish(PRINT, REPLY);
    expect((await begin('req_3', 'key', STAY, another())).type).toBe('done');
  });

  it('expires with a killed process, and the next charges under the same id', async () => {
    await work('req_1');
    rig.clock.nowMs += 60_000;
    expect((await work('req_2', 'key', another())).chargeId).toBe('req_1');
  });

  it('survives a store that does not answer once', async () => {
    const first = await work('req_1');
    rig.failing.set('renewIdempotency', 'busy');
    advance(20_000);
    await calm();
    rig.failing.clear();
    advance(20_000);
    await calm();
    advance(30_000);
    await expect(begin('req_2', 'key', STAY, another())).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect(faults).toHaveLength(1);
    await first.release();
  });

  it('runs out for work without a result', async () => {
    await (await work('req_1')).abandon();
    expect(node.size).toBe(0);
    await expect(begin('req_2')).rejects.toMatchObject({ code: 'idempotency_conflict' });
    advance(60_000);
    expect((await work('req_3')).chargeId).toBe('req_1');
  });
});

describe('a store that fails', () => {
  it('refuses the request at the claim, and leaves the key free', async () => {
    rig.failing.set('claimIdempotency', 'failed');
    await expect(begin('req_1')).rejects.toMatchObject({ code: 'overloaded', status: 503 });
    rig.failing.clear();
    expect((await begin('req_2')).type).toBe('work');
  });

  it('sends the answer anyway at the end, and logs the fault', async () => {
    const first = await work('req_1');
    rig.failing.set('finishIdempotency', 'failed');
    await first.finish(PRINT, REPLY);
    expect([faults.length, node.size]).toEqual([1, 0]);
  });
});

it('keeps an answer of 4 MiB in pieces, and gives it byte for byte', async () => {
  const large = { ...REPLY, body: 'word '.repeat(800_000) };
  await (await work('req_1')).finish(PRINT, large);
  const pieces = rig.database.prepare('SELECT count(*) FROM pieces WHERE expires_at_ms IS NULL').pluck().get();
  const begun = await begin('req_2', 'key', STAY, another());
  expect(await replyOf(begun)).toMatchObject({ status: 200, body: large.body });
  expect([pieces, unkept, faults]).toEqual([12, 0, []]);
});

it('answers `overloaded` when the pieces of an answer cannot be read just now', async () => {
  await (await work('req_1')).finish(PRINT, { ...REPLY, body: 'word '.repeat(100_000) });
  const begun = await begin('req_2');
  rig.failing.set('findPiece', 'unreachable');
  await expect(replyOf(begun)).rejects.toMatchObject({ code: 'overloaded' });
});

it.each<[string, number, CallName, StoreErrorReason]>([
  ['is larger than 4 MiB', 1_000_000, 'renewIdempotency', 'unreachable'],
  ['has no room in the store', 100_000, 'putPiece', 'overflow'],
  ['meets a store of a version without pieces', 100_000, 'putPiece', 'invalid'],
  ['lost pieces on the way', 100_000, 'finishIdempotencyInPieces', 'conflict'],
])('drops an answer that %s, counts it, and repeats nothing under its key', async (_, words, name, reason) => {
  rig.failing.set(name, reason);
  const first = await work('req_1');
  await first.finish(PRINT, { ...REPLY, body: 'word '.repeat(words) });
  expect(unkept).toBe(1);
  advance(61_000);
  const begun = await begin('req_2');
  await expect(replyOf(begun)).rejects.toThrow(/req_1, which was answered and charged/);
  expect([begun.type, node.size, faults]).toEqual(['done', 0, []]);
});

describe('an answer at rest', () => {
  const seal = new AnswerSeal(SECRET);

  it.each<[string, WholeReply]>([
    ['text', REPLY],
    ['bytes', { status: 201, headers: {}, body: Buffer.from([0, 255, 1]) }],
    ['nothing', { status: 204, headers: {}, body: '' }],
  ])('comes back unchanged with %s', (_, reply) => {
    expect(seal.open(seal.seal(reply, 'a'), 'a')).toEqual(reply);
  });

  it('shows nothing of its text, and never looks the same twice', () => {
    const [one, two] = [seal.seal(REPLY, 'a'), seal.seal(REPLY, 'a')];
    expect(Buffer.from(one).includes('said')).toBe(false);
    expect(Buffer.compare(one, two)).not.toBe(0);
  });

  it('stays sealed under another key or secret, or with a changed bit', () => {
    const sealed = seal.seal(REPLY, 'a');
    expect(seal.open(sealed, 'b')).toBeUndefined();
    expect(new AnswerSeal(Buffer.from('another secret of 32 characters.')).open(sealed, 'a')).toBeUndefined();
    for (const at of [0, 12, sealed.length - 1]) {
      const changed = new Uint8Array(sealed);
      changed[at]! ^= 1;
      expect(seal.open(changed, 'a')).toBeUndefined();
    }
    expect(seal.open(sealed.subarray(0, 20), 'a')).toBeUndefined();
  });

  it('causes an error, not a repeat, when it can no longer be opened', async () => {
    await (await work('req_1')).finish(PRINT, REPLY);
    const begun = await begin('req_2', 'key', STAY, another(Buffer.from('another secret of 32 characters.')));
    await expect(replyOf(begun)).rejects.toThrow(/req_1, which was answered and charged/);
  });
});

describe('the header', () => {
  it.each([
    ['a', 'a'],
    ['~ '.repeat(127), '~ '.repeat(127)],
    ['x'.repeat(255), 'x'.repeat(255)],
    [undefined, undefined],
  ])('%j is a key', (text, key) => {
    expect(readIdempotencyKey(new Map(text === undefined ? [] : [['idempotency-key', text]]))).toBe(key);
  });

  it.each(['', 'x'.repeat(256), 'é', 'a\tb', 'a\u0000'])('%j is refused', (text) => {
    expect(() => readIdempotencyKey(new Map([['idempotency-key', text]]))).toThrow(
      expect.objectContaining({ code: 'invalid_request', extras: { param: 'Idempotency-Key' } }),
    );
  });
});

describe('a fingerprint', () => {
  const print = (
    fields: [string, string][],
    chunks: string[] = ['ab'],
    type: string | null = 'audio/wav',
    path = '/v1/audio/transcriptions',
  ) => {
    const made = new FormFingerprint('POST', path);
    for (const chunk of chunks) made.file(Buffer.from(chunk));
    return Buffer.from(made.digest(fields, type ?? undefined)).toString('hex');
  };

  it('stays the same for any split of the file and any order of fields', () => {
    const one = print([
      ['model', 'a/b'],
      ['language', 'en'],
    ]);
    const two = print(
      [
        ['language', 'en'],
        ['model', 'a/b'],
      ],
      ['a', 'b'],
    );
    expect(two).toBe(one);
  });

  it('differs for any difference', () => {
    const all = [
      print([['model', 'a/b']]),
      print([['model', 'a/c']]),
      print([['model', 'a/b']], ['abc']),
      print([['model', 'a/b']], ['ab'], 'audio/l16;rate=8000'),
      print([['model', 'a/b']], ['ab'], null),
      print([['model', 'a/b']], ['ab'], 'audio/wav', '/v2/audio/transcriptions'),
      print([['modela', '/b']]),
      print([
        ['model', 'a/b'],
        ['timestamp_granularities[]', 'word'],
        ['timestamp_granularities[]', 'segment'],
      ]),
      print([
        ['model', 'a/b'],
        ['timestamp_granularities[]', 'segment'],
        ['timestamp_granularities[]', 'word'],
      ]),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('an answer with redacted classes', () => {
  const done = async (redacted: readonly string[] | undefined) => {
    await (await work('req_1')).finish(PRINT, REPLY, redacted);
    const begun = await begin('req_2');
    if (begun.type !== 'done') throw new Error('It was not kept.');
    return begun.before;
  };

  it('is sent again where no more is demanded, and says nothing of them', async () => {
    const before = await done(['card', 'email']);
    const reply = await before.replyTo(PRINT, ['email']);
    expect(reply).toEqual({ ...REPLY, headers: { ...REPLY.headers, 'Idempotency-Replayed': 'true' } });
  });

  it.each([[['card']], [undefined]])('is not sent where it has %j and a rule demands more', async (redacted) => {
    const before = await done(redacted);
    await expect(before.replyTo(PRINT, ['card', 'phone'])).rejects.toMatchObject({
      code: 'idempotency_conflict',
      message: expect.stringContaining('card, phone'),
    });
  });
});
