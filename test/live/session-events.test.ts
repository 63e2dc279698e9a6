// What happens in a session, as a program reads it: over real sessions under a simulated clock.
import { describe, expect, it } from 'vitest';
import type { WatchedFrame } from '../../src/api/console/watching.ts';
import type { SessionAnswer } from '../../src/api/usage.ts';
import type { RouteContext } from '../../src/http/router.ts';
import type { Reply } from '../../src/http/server.ts';
import { getSessionEvents, HEARTBEAT_MS, STREAM_MS_MAX, streamPlaces } from '../../src/live/routes/session-events.ts';
import { SessionsElsewhere } from '../../src/live/session/watch/watch.ts';
import { WatchService } from '../../src/live/session/watch/watch-service.ts';
import { getSession } from '../../src/money/routes/sessions.ts';
import type { SessionRecord } from '../../src/money/store/calls.ts';
import { Quota } from '../../src/runtime/limits/quota.ts';
import { type RigClient, SessionRig, settle } from '../fakes/session-rig.ts';
import { speech, timersOf } from './session/support.ts';

/** A node with a session, and its records. */
async function openRig(places = streamPlaces(), showsTranscripts = false) {
  const rig = new SessionRig();
  const { bus, sessions, clock, breakers } = rig;
  const service = new WatchService({ bus, sessions, clock, breakers, onDrop: () => {} });
  const elsewhere = new SessionsElsewhere({ bus, clock, wallNow: () => new Date(0) });
  const client = await rig.open({}, 'org_1', { showsTranscripts });
  const { sessionId } = client.session.opening;
  let kept: string | undefined;
  const keep = (frames: readonly WatchedFrame[]) => {
    kept = JSON.stringify(frames);
  };
  const record = {
    id: sessionId,
    openedAt: new Date(0).toISOString(),
    endedAt: null,
    reason: null,
  } as unknown as SessionRecord;
  const events = getSessionEvents({
    store: {
      findSession: async (organisationId: string, id: string) =>
        organisationId === 'org_1' && id === sessionId ? record : undefined,
      findSessionEvents: async () => kept,
    } as never,
    watchSession: (...args) => elsewhere.watch(...args),
    clock,
    wallNow: () => new Date(0),
    places,
  });
  /** What the reader's key or login is worth. */
  const reader = { isAllowed: true, seesTranscripts: undefined as (() => Promise<boolean>) | undefined };
  const ask = (query = '', { id = sessionId, organisationId = 'org_1', headers = {} } = {}) =>
    events(
      {
        request: { query, headers: new Map(Object.entries(headers)), signal: new AbortController().signal },
        params: { id },
        requestId: 'req_1',
      } as unknown as RouteContext,
      {
        organisationId,
        isStillAllowed: async () => reader.isAllowed,
        ...(reader.seesTranscripts && { seesTranscripts: reader.seesTranscripts }),
      },
    );
  const find = getSession({
    store: { findSession: async () => record, findSessionEvents: async () => kept } as never,
    describeSession: () => undefined,
  });
  /** What `GET /v1/sessions/{id}` says. */
  const answer = async () => {
    const context = { request: { query: '' }, params: { id: sessionId } } as unknown as RouteContext;
    return JSON.parse(String((await find(context, { organisationId: 'org_1' })).body)) as SessionAnswer;
  };
  await rig.advance(200);
  return { rig, service, client, record, keep, reader, ask, answer };
}

const ENDED = { endedAt: new Date(60_000).toISOString(), reason: 'client_closed' };

/** Reads what comes, as long as somebody does. */
function read(reply: Reply) {
  const iterator = (reply.body as AsyncIterable<string>)[Symbol.asyncIterator]();
  const seen = { text: '', isOver: false };
  const run = async () => {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) seen.text += next.value;
    seen.isOver = true;
  };
  void run();
  return Object.assign(seen, { leave: () => iterator.return?.() });
}

const framesIn = (text: string): WatchedFrame[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as WatchedFrame);
const kindsIn = (text: string) => framesIn(text).map(({ kind }) => kind);

async function talk({ rig, client }: { rig: SessionRig; client: RigClient }) {
  client.session.audio(speech(3));
  await rig.advance(3_000);
}

describe('the events of a session', () => {
  it('start with the current state, and end with the end, each numbered', async () => {
    const all = await openRig();
    const reply = await all.ask();
    const reader = read(reply);
    await talk(all);
    all.client.session.control({ type: 'close' });
    await all.rig.advance(10_000);
    expect([reply.status, reply.headers?.['Content-Type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const kinds = kindsIn(reader.text);
    expect([kinds[0], kinds.at(-1), reader.isOver]).toEqual(['actors', 'ended', true]);
    expect(kinds).toEqual(expect.arrayContaining(['step', 'mark']));
    const ids = [...reader.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    expect(ids).toEqual(framesIn(reader.text).map(({ sequence }) => sequence));
    expect([all.service.size, timersOf(all.rig.clock)]).toEqual([0, 0]);
  });

  it('continue after the last one that the reader has seen', async () => {
    const all = await openRig();
    const first = read(await all.ask());
    await talk(all);
    first.leave();
    await talk(all);
    const last = framesIn(first.text).at(-1)!.sequence;
    const second = read(await all.ask('', { headers: { 'last-event-id': String(last) } }));
    const third = read(await all.ask('after=0'));
    await settle();
    expect(framesIn(second.text)[0]!.sequence).toBe(last + 1);
    expect([framesIn(third.text)[0]!.sequence, kindsIn(third.text).at(-1)]).toEqual([1, 'actors']);
  });

  it('include an unwatched session’s states and its final figures', async () => {
    const all = await openRig();
    await talk(all);
    all.client.session.control({ type: 'close' });
    await all.rig.advance(10_000);
    await all.client.ended();
    const had = { legs: [{ model: 'loopback/script', state: 'closed' }], failovers: 0 };
    const frames = all.client.session.log.after(0);
    const states = frames.flatMap((frame) => (frame.kind === 'step' ? [JSON.stringify(frame.value)] : []));
    for (const state of ['dialling', 'streaming', 'finishing', 'settling', 'closed'])
      expect(states.some((value) => value.includes(state))).toBe(true);
    const { turns } = all.client.summary!;
    expect(frames.at(-1)).toMatchObject({ kind: 'ended', turns, ...had });
    Object.assign(all.record, { ...ENDED, lines: [], costMicroUsd: 0n, heldMicroUsd: 0n, audioMs: 3_000 });
    expect(await all.answer()).not.toHaveProperty('legs');
    all.keep(frames);
    expect(await all.answer()).toMatchObject({ turns, ...had });
  });

  it('cost nothing once their reader has left', async () => {
    const { rig, service, client, ask } = await openRig();
    const timers = timersOf(rig.clock);
    const reader = read(await ask());
    await reader.leave();
    await settle();
    expect([service.size, client.session.charts.isWatched, timersOf(rig.clock)]).toEqual([0, false, timers]);
  });

  it('skip and count events for a reader that does not read', async () => {
    const { rig, client, ask } = await openRig();
    const { body } = await ask();
    for (let round = 0; round < 60; round++) {
      for (let count = 0; count < 30; count++) {
        client.session.charts.turn.tell({ type: 'turn.heard' });
        client.session.charts.turn.tell({ type: 'turn.discarded' });
      }
      client.session.control({ type: 'finalize' });
      await rig.advance(50, 50);
    }
    const reader = read({ status: 200, body: body! });
    await settle();
    expect(reader.text.length).toBeLessThan(300_000);
    client.session.charts.turn.tell({ type: 'turn.heard' });
    await rig.advance(50, 50);
    const dropped = framesIn(reader.text).find(({ kind }) => kind === 'dropped');
    expect(dropped).toMatchObject({ count: expect.any(Number) });
  });

  it('say something in silence, and ask the reader to come again after a while', async () => {
    const { rig, service, client, ask } = await openRig();
    const reader = read(await ask());
    await rig.advance(HEARTBEAT_MS, 1_000);
    expect(reader.text).toContain('\n: \n\n');
    for (let at = 0; at < STREAM_MS_MAX; at += 5_000) {
      client.session.control({ type: 'keepalive' } as never);
      await rig.advance(5_000, 5_000);
    }
    expect([reader.isOver, service.size]).toEqual([true, 0]);
  });

  it('end for a reader whose key or login has expired', async () => {
    const all = await openRig();
    const reading = read(await all.ask());
    await all.rig.advance(HEARTBEAT_MS, 1_000);
    expect(reading.isOver).toBe(false);
    all.client.session.control({ type: 'keepalive' } as never);
    all.reader.isAllowed = false;
    await all.rig.advance(HEARTBEAT_MS, 1_000);
    expect([reading.isOver, kindsIn(reading.text), all.service.size]).toEqual([
      true,
      expect.not.arrayContaining(['ended']),
      0,
    ]);
  });

  it('go to a limited number of readers per organisation, and one more when one leaves', async () => {
    const { ask, service } = await openRig(new Quota(4));
    const readers = [read(await ask()), read(await ask())];
    await expect(ask()).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    await readers[0]!.leave();
    readers.push(read(await ask()));
    for (const reader of readers) await reader.leave();
    expect(service.size).toBe(0);
  });

  it('come to a reader who claims to have seen later ones than there are', async () => {
    const all = await openRig();
    const reader = read(await all.ask('after=999999999'));
    await talk(all);
    expect(kindsIn(reader.text)).toEqual(expect.arrayContaining(['actors', 'step', 'mark']));
  });

  it.each([
    ['the organisation hides them', false],
    ['it is not known whether it does', true],
  ])('carry final texts only for readers with permission, until %s', async (_, isUnknown) => {
    const all = await openRig(streamPlaces(), true);
    const key = read(await all.ask());
    let isShown = true;
    all.reader.seesTranscripts = async () => isShown;
    const member = read(await all.ask());
    await talk(all);
    all.client.session.control({ type: 'finalize' });
    await all.rig.advance(1_000);
    const said = all.client.finals.map(({ text }) => text).filter((text) => text !== '');
    expect(said.length).toBeGreaterThan(0);
    for (const text of said) expect([member.text.includes(text), key.text.includes(text)]).toEqual([true, false]);
    isShown = false;
    if (isUnknown) all.reader.seesTranscripts = () => Promise.reject(new Error('The store does not answer.'));
    await all.rig.advance(HEARTBEAT_MS, 1_000);
    const before = member.text.length;
    await talk(all);
    all.client.session.control({ type: 'finalize' });
    await all.rig.advance(1_000);
    expect(all.client.finals.length).toBeGreaterThan(said.length);
    expect(member.text.slice(before)).toContain('turn_final');
    expect(member.text.slice(before)).not.toContain('"transcript"');
  });

  it('consist of the end for a session that has ended', async () => {
    const { record, ask } = await openRig();
    Object.assign(record, { endedAt: new Date(1_000).toISOString(), reason: 'client_closed' });
    const { body } = await ask();
    expect(framesIn(body as string)).toMatchObject([{ kind: 'ended', reason: 'client_closed' }]);
  });

  it('consist of the kept ones after the end, and of none for a complete reader', async () => {
    const all = await openRig();
    await talk(all);
    all.client.session.control({ type: 'close' });
    await all.rig.advance(10_000);
    const { log } = all.client.session;
    all.keep(log.after(0));
    Object.assign(all.record, { endedAt: new Date(1_000).toISOString(), reason: 'client_closed' });
    const { body } = await all.ask();
    expect(framesIn(body as string)).toEqual(log.after(0));
    expect(framesIn(body as string).flatMap((frame) => (frame.kind === 'mark' ? [frame.mark] : []))).toEqual(
      expect.arrayContaining(['leg_opened', 'turn_final']),
    );
    expect(framesIn((await all.ask('after=2')).body as string)[0]!.sequence).toBe(3);
    expect(await all.ask('', { headers: { 'last-event-id': String(log.sequence) } })).toEqual({ status: 204 });
    all.keep([{ kind: 'from a later version' } as never]);
    expect(framesIn((await all.ask()).body as string)).toMatchObject([{ kind: 'ended', reason: 'client_closed' }]);
  });

  it('end as lost for a session whose node is gone', async () => {
    const { service, ask } = await openRig();
    service.close();
    const { body } = await ask();
    expect(framesIn(body as string)).toMatchObject([{ kind: 'ended', reason: 'lost' }]);
  });

  it.each([
    ['after=x', {}, 'invalid_request'],
    ['', { headers: { 'last-event-id': '-1' } }, 'invalid_request'],
    ['since=1', {}, 'invalid_request'],
    ['', { organisationId: 'org_2' }, 'not_found'],
    ['', { id: 'ses_nobody' }, 'not_found'],
  ])('fail for an invalid number, and for other organisations: %s %j', async (query, options, code) => {
    const { service, ask } = await openRig();
    await expect(ask(query, options)).rejects.toMatchObject({ code });
    expect(service.size).toBe(0);
  });
});
