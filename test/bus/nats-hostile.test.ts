// What anybody who may write to the subjects can send: nothing of it harms a node, or makes it say something.
import fc from 'fast-check';
import { connect, type NatsConnection, headers as natsHeaders } from 'nats';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BusBody } from '../../src/bus/bus.ts';
import type { NatsBus } from '../../src/bus/nats.ts';
import { encodeFrame } from '../../src/bus/nats-frames.ts';
import { natsServerIsHere } from '../fakes/nats-server.ts';
import { settleAll } from '../fakes/settle-nats.ts';
import { busOfTest, serverOfTest } from './nats-rig.ts';

const frame = (from: string, body: unknown) =>
  encodeFrame(from as `${string}/${string}`, body as BusBody) as Uint8Array;

/** A frame with any text in place of its JSON. */
function framed(json: string | Uint8Array, claimed?: number): Uint8Array {
  const bytes = Buffer.from(json as string);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(0x1_00_00_00 + (claimed ?? bytes.length));
  return Buffer.concat([head, bytes]);
}

// The fake says what is missing; under CI that is a failure.
describe.skipIf(!natsServerIsHere)('a node on NATS', () => {
  let bus: NatsBus;
  let other: NatsBus;
  let stranger: NatsConnection;
  let said: string[];
  let heard: BusBody[];
  let lost: unknown[];

  beforeEach(async () => {
    const server = await serverOfTest();
    [bus, other] = [await busOfTest(server), await busOfTest(server)];
    stranger = await connect({ servers: server.url });
    [said, heard, lost] = [[], [], []];
    bus.attach(
      'actor',
      ({ body }) => heard.push(body),
      (...loss) => lost.push(loss),
    );
    bus.serve('service', (body) => ({ type: `answer to ${body.type}` }));
    bus.subscribe('topic', (body) => heard.push(body));
    await settleAll([bus, other]);
    stranger.subscribe('>', { callback: (_, { subject }) => said.push(subject) });
    await stranger.flush();
  });
  afterEach(() => stranger.close());

  const subjects = () => [
    `test.v1.n.${bus.node}.a.actor`,
    `test.v1.n.${bus.node}.s.service`,
    `test.v1.n.${bus.node}.r.1`,
    `test.v1.n.${bus.node}.u.1.type`,
    `test.v1.n.${bus.node}.x`,
    `test.v1.n.${bus.node}.a.b.c.d`,
    'test.v1.s.service',
    'test.v1.t.topic',
  ];
  const stillWorks = async () => {
    await stranger.flush();
    await settleAll([bus, other]);
    heard.length = 0;
    other.send(bus.address('actor'), other.address('me'), { type: 'letter' });
    expect(await other.request('service', other.address('me'), { type: 'ask' }, 5_000)).toEqual({
      type: 'answer to ask',
    });
    await settleAll([bus, other]);
    expect(heard).toEqual([{ type: 'letter' }]);
    expect(bus.isConnected).toBe(true);
  };

  it('takes no bytes that are no message, counts them, and works on', async () => {
    let sent = 0;
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.uint8Array({ maxLength: 64 }).map((rest) => framed(rest)),
      fc.json().map((json) => framed(json)),
      fc.json().map((body) => framed(`{"from":"${other.node}/me","body":${body}}`)),
      fc.tuple(fc.json(), fc.nat(1_000)).map(([json, by]) => framed(json, json.length + by)),
      fc.nat(60).map((at) => frame(`${other.node}/me`, { type: 'cut short' }).slice(0, at)),
    );
    fc.assert(
      fc.property(fc.constantFrom(...subjects()), bytes, (subject, payload) => {
        stranger.publish(subject, payload);
        sent++;
      }),
      { numRuns: 3_000, seed: 55 },
    );
    await stranger.flush();
    await settleAll([bus, other]);
    // A random object may happen to be a message; hardly any is.
    const { malformed, misdirected, late } = bus.ignored;
    expect(malformed + misdirected + late).toBeGreaterThan(0.6 * sent);
    expect(heard.length).toBeLessThan(0.01 * sent);
    await stillWorks();
  });

  it.each<[string, unknown]>([
    ['a sender that is nobody', { from: 'me', body: { type: 'a' } }],
    ['a sender with an end of line', { from: 'ab\r\nPUB x 0\r\n/me', body: { type: 'a' } }],
    ['a sender with a wildcard', { from: '*/me', body: { type: 'a' } }],
    ['no body', { from: 'abcdef/me' }],
    ['a list for a body', { from: 'abcdef/me', body: [{ type: 'a' }] }],
    ['no type', { from: 'abcdef/me', body: {} }],
    ['a type that is no text', { from: 'abcdef/me', body: { type: 7 } }],
    ['a type without end', { from: 'abcdef/me', body: { type: 'x'.repeat(1_000) } }],
  ])('takes no message with %s', async (_, json) => {
    for (const subject of subjects()) stranger.publish(subject, framed(JSON.stringify(json)), { reply: 'elsewhere' });
    await stranger.flush();
    await settleAll([bus]);
    expect(heard).toEqual([]);
    // Both subjects of the service come to it; an actor that is not there is looked for after the message is read.
    expect(bus.ignored.malformed).toBe(subjects().length);
    await stillWorks();
  });

  it('survives JSON that is nested without end, and the names of prototypes', async () => {
    const deep = '['.repeat(200_000);
    stranger.publish(`test.v1.n.${bus.node}.a.actor`, framed(deep));
    stranger.publish(`test.v1.n.${bus.node}.a.actor`, framed(`${deep}${']'.repeat(200_000)}`));
    stranger.publish(`test.v1.n.${bus.node}.a.__proto__`, frame('abcdef/me', { type: 'a' }));
    stranger.publish(`test.v1.n.${bus.node}.s.constructor`, frame('abcdef/me', { type: 'a' }));
    stranger.publish(`test.v1.n.${bus.node}.a.actor`, framed('{"__proto__":{"from":"abcdef/me","body":{"type":"a"}}}'));
    stranger.publish(`test.v1.n.${bus.node}.a.actor`, framed('{"from":"abcdef/me","body":{"__proto__":{"type":"a"}}}'));
    await stillWorks();
    expect(bus.ignored.malformed).toBe(5);
    expect(({} as { type?: string }).type).toBeUndefined();
  });

  it.each([
    '$JS.API.STREAM.DELETE.test-usage',
    'test.v1.t.key.revoked',
    'test.v1.n.abcdef.a.actor',
    'bad..subject',
    '>',
  ])('says nothing to %s, whoever asks for an answer there', async (reply) => {
    const from = `${other.node}/me`;
    const ask = { type: 'ask', timeoutMs: 1_000, body: { type: 'x' } };
    stranger.publish('test.v1.s.service', frame(from, ask), { reply });
    stranger.publish(`test.v1.n.${bus.node}.s.service`, frame(from, ask), { reply });
    stranger.publish(`test.v1.n.${bus.node}.a.nobody`, frame(from, { type: 'x' }), { reply });
    await stranger.flush();
    await settleAll([bus, other]);
    expect(said).toHaveLength(3);
    expect(bus.ignored.misdirected).toBe(3);
    await stillWorks();
  });

  it('says nothing to another node than the one that has asked', async () => {
    const ask = { type: 'ask', timeoutMs: 1_000, body: { type: 'x' } };
    stranger.publish('test.v1.s.service', frame('abcdef/me', ask), { reply: `test.v1.n.${other.node}.r.1` });
    await stranger.flush();
    await settleAll([bus, other]);
    expect(said).toEqual(['test.v1.s.service']);
    expect(bus.ignored.misdirected).toBe(1);
  });

  it('takes nothing from outside that says it is from the node itself: what is near is believed more', async () => {
    const [ask, reply] = [{ type: 'ask', timeoutMs: 1_000, body: { type: 'x' } }, `test.v1.n.${bus.node}.r.1`];
    stranger.publish(`test.v1.n.${bus.node}.a.actor`, frame(`${bus.node}/me`, { type: 'x' }));
    stranger.publish(`test.v1.n.${bus.node}.a.nobody`, frame(`${bus.node}/me`, { type: 'x' }), { reply });
    stranger.publish(`test.v1.n.${bus.node}.s.service`, frame(`${bus.node}/me`, ask), { reply });
    stranger.publish('test.v1.s.service', frame(`${bus.node}/me`, ask), { reply });
    await stranger.flush();
    await settleAll([bus, other]);
    expect([heard, said.length]).toEqual([[], 4]);
    expect(bus.ignored).toEqual({ malformed: 0, misdirected: 4, late: 0 });
    await stillWorks();
  });

  it.each([undefined, 0, -1, Number.NaN, '1000', 1e300])(
    'answers no question with %s ms to answer it, or soon',
    async (timeoutMs) => {
      const ask = { type: 'ask', timeoutMs, body: { type: 'x' } };
      stranger.publish('test.v1.s.service', frame(`${other.node}/me`, ask), { reply: `test.v1.n.${other.node}.r.zz` });
      await stillWorks();
      expect(bus.ignored.malformed).toBe(timeoutMs === 1e300 ? 0 : 1);
    },
  );

  it('believes only the node that was written to that it has no such actor', async () => {
    bus.send(other.address('actor'), bus.address('actor'), { type: 'letter' });
    other.attach('actor', () => {});
    stranger.publish(`test.v1.n.${bus.node}.u.1.letter`, frame('abcdef/bus', { type: 'unknown_actor' }));
    await stranger.flush();
    await settleAll([bus, other]);
    expect(bus.ignored.misdirected).toBe(1);
    expect(lost).toEqual([]);
    stranger.publish(`test.v1.n.${bus.node}.u.1.letter`, frame(`${other.node}/bus`, { type: 'unknown_actor' }));
    await stranger.flush();
    await settleAll([bus, other]);
    expect(lost).toEqual([[other.address('actor'), 'letter', 'unknown_actor']]);
  });

  it('takes answers to nothing, and news of nothing, for late', async () => {
    stranger.publish(`test.v1.n.${bus.node}.r.999`, frame('abcdef/bus', { type: 'answer', body: { type: 'x' } }));
    stranger.publish(`test.v1.n.${bus.node}.r.999`, frame('abcdef/bus', { type: 'left' }));
    stranger.publish(
      `test.v1.n.${bus.node}.r.999`,
      frame('abcdef/bus', { type: 'failure', reason: 'overflow', message: '' }),
    );
    stranger.publish(`test.v1.n.${bus.node}.u.zzz.x`, frame('abcdef/bus', { type: 'unknown_actor' }));
    const gone = natsHeaders(503, 'No Responders');
    stranger.publish(`test.v1.n.${bus.node}.r.999`, new Uint8Array(), { headers: gone });
    await stillWorks();
    expect(bus.ignored.late).toBe(5);
    expect(lost).toEqual([]);
  });

  it('hears nothing of a gateway with another prefix', async () => {
    stranger.publish('other.v1.t.topic', frame('abcdef/me', { type: 'x' }));
    stranger.publish(`other.v1.n.${bus.node}.a.actor`, frame('abcdef/me', { type: 'x' }));
    await stranger.flush();
    await settleAll([bus]);
    expect(heard).toEqual([]);
  });

  it.each(['a b', 'a\r\nPUB x 0\r\n', '*', '>', 'a..b', 'a.', '', 'x'.repeat(300)])(
    'sends nothing to the actor %j: nobody can have that name',
    async (actor) => {
      expect(bus.send(`${other.node}/${actor}`, bus.address('me'), { type: 'x' })).toBe('unknown_node');
      expect(bus.send(`${actor}/actor`, bus.address('me'), { type: 'x' })).toBe('unknown_node');
      bus.publish(actor, { type: 'x' });
      await settleAll([bus]);
      expect(said).toEqual([]);
    },
  );
});
