// Legs over the bus: any session may ask for one, hears its reports and commands it by address, and leaves none behind.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { LegReport, OpenLeg } from '../../../machines/events.ts';
import { MemoryBus } from '../../../src/cluster/bus/memory.ts';
import { legActor, OPEN_LEG } from '../../../src/cluster/bus/subjects.ts';
import { LegService } from '../../../src/live/upstream/service/leg-service.ts';
import { UpstreamHost } from '../../../src/live/upstream/upstream-host.ts';
import { settle } from '../../fakes/session-rig.ts';
import { failure, Puppet, type PuppetOptions, puppetProvider } from '../session/puppet.ts';
import { timersOf } from '../session/support.ts';

function world(options: PuppetOptions = {}) {
  const bus = new MemoryBus();
  const clock = new SimulatedClock();
  const puppet = new Puppet();
  const faults: string[] = [];
  const ends: string[] = [];
  const upstream = new UpstreamHost({
    providers: new Map([['puppet', puppetProvider(options)]]),
    engines: { puppet },
    access: () => ({ baseUrl: undefined, credential: undefined }),
    clock,
    onEvent: (event) => {
      if (event.type === 'fault') faults.push(event.name);
      else if (event.type === 'leg.ended') ends.push(event.outcome);
    },
  });
  const service = new LegService(bus, upstream);
  const session = bus.address('ses_1');
  const leg = bus.address(legActor('ses_1', 3));
  const reports: LegReport[] = [];
  const leave = bus.attach('ses_1', ({ body, from }) => {
    expect(from).toBe(leg);
    reports.push(body as LegReport);
  });
  const request: OpenLeg = {
    type: 'leg.open',
    session,
    sessionId: 'ses_1',
    generation: 3,
    slug: 'puppet/a',
    sampleRate: 16_000,
    language: null,
    interimResults: true,
    diarization: false,
    params: {},
    credentialId: 'service',
    organisationId: 'org_1',
  };
  const ask = (more: Partial<OpenLeg> = {}) =>
    bus.request(OPEN_LEG, session, { ...request, ...more } as OpenLeg, 1_000);
  const command = (body: { type: string }, bytes?: Uint8Array) => bus.send(leg, session, body, bytes);
  return { bus, clock, puppet, upstream, faults, ends, service, leave, leg, reports, request, ask, command };
}

const nothingLeft = ({ bus, upstream, clock }: ReturnType<typeof world>, sessions = 1) =>
  expect([bus.actors, upstream.size, timersOf(clock)]).toEqual([sessions, 0, 0]);

describe('a leg over the bus', () => {
  it('answers with its address, reports in order, takes commands, and ends with a word', async () => {
    const stage = world();
    expect(await stage.ask()).toEqual({ type: 'leg.opened', leg: stage.leg });
    await settle();
    stage.command({ type: 'leg.audio', sequence: 1 } as never, new Uint8Array(320));
    stage.command({ type: 'leg.finalize' });
    await stage.puppet.last.say({ type: 'speech.started', start: 0 });
    stage.command({ type: 'leg.finish' });
    await stage.puppet.last.say({ type: 'finished' });
    expect(stage.reports.map(({ type, sequence, generation }) => [type, sequence, generation])).toEqual([
      ['leg.ready', 1, 3],
      ['leg.heard', 2, 3],
      ['leg.finished', 3, 3],
    ]);
    expect([stage.puppet.last.samples, stage.puppet.last.controls]).toEqual([160, ['finalize', 'finish']]);
    expect(stage.ends).toEqual(['finished']);
    nothingLeft(stage);
    expect(stage.command({ type: 'leg.finalize' })).toBe('unknown_actor');
  });

  it('reports its failure once, and receives nothing after', async () => {
    const stage = world();
    await stage.ask();
    await settle();
    await stage.puppet.last.say({ type: 'failed', failure: failure('account') }, { type: 'speech.started', start: 0 });
    expect(stage.reports.slice(1)).toMatchObject([{ type: 'leg.failed', failure: failure('account') }]);
    expect(stage.ends).toEqual(['upstream_error']);
    nothingLeft(stage);
  });

  it('ends with its session, even without a message', async () => {
    const stage = world();
    await stage.ask();
    await settle();
    stage.leave();
    await stage.puppet.last.say({ type: 'speech.started', start: 0 });
    expect(stage.puppet.last.over).toBe(true);
    nothingLeft(stage, 0);
  });

  it('obeys its session alone, and opens only for it', async () => {
    const stage = world();
    await stage.ask();
    await settle();
    for (const from of ['ses_2', 'leg.ses_1.3'])
      stage.bus.send(stage.leg, stage.bus.address(from), { type: 'leg.close' });
    stage.bus.send(stage.leg, 'afar01/ses_1', { type: 'leg.close' });
    expect([stage.puppet.last.over, stage.upstream.size]).toEqual([false, 1]);
    const stranger = stage.bus.request(OPEN_LEG, 'afar01/ses_1', { ...stage.request, generation: 4 } as OpenLeg, 1_000);
    await expect(stranger).rejects.toMatchObject({ reason: 'handler_failed' });
    expect(stage.upstream.size).toBe(1);
    stage.command({ type: 'leg.close' });
    nothingLeft(stage);
  });

  it('fails when the node lacks the model, or its name is taken, and harms nothing', async () => {
    const stage = world();
    for (const slug of ['puppeteer/a', 'custom/whisper'])
      expect(await stage.ask({ slug })).toEqual({ type: 'leg.refused', shortOf: 'model' });
    expect(stage.faults).toEqual([]);
    nothingLeft(stage);
    await stage.ask();
    await expect(stage.ask()).rejects.toMatchObject({ reason: 'handler_failed' });
    expect(stage.upstream.size).toBe(1);
    stage.command({ type: 'leg.close' });
    nothingLeft(stage);
  });

  it.each(['timing', 'open'] as const)('fails when its codec throws in `%s`, and harms nothing', async (method) => {
    const stage = world({
      codec: {
        [method]: () => {
          throw new Error('broken');
        },
      },
    });
    const outcome = await stage.ask().catch((error: { reason: string }) => error.reason);
    if (method === 'timing') expect([outcome, stage.reports]).toEqual(['handler_failed', []]);
    else
      expect(stage.reports).toMatchObject([{ type: 'leg.failed', failure: { kind: 'next', code: 'internal_fault' } }]);
    nothingLeft(stage);
  });

  it('never dials against its data residency rule, even if the session’s node would', async () => {
    const stage = world();
    await stage.ask({ rule: { regions: ['eu'], retention: null } });
    await settle();
    expect(stage.reports).toMatchObject([{ type: 'leg.failed', failure: { code: 'place_not_kept', own: true } }]);
    expect(stage.puppet.connections).toEqual([]);
    nothingLeft(stage);
  });

  it('cannot be opened when this node no longer serves legs', async () => {
    const stage = world();
    stage.service.close();
    await expect(stage.ask()).rejects.toMatchObject({ reason: 'unknown_actor' });
    nothingLeft(stage);
  });

  it('stops with its node, without a fault', async () => {
    const stage = world();
    await stage.ask();
    await settle();
    stage.upstream.close();
    expect([stage.faults, stage.reports.map(({ type }) => type)]).toEqual([[], ['leg.ready']]);
    nothingLeft(stage);
  });
});

describe('the keep-alive of a leg', () => {
  it('leaves after a silent period, and not after the end', async () => {
    const stage = world({ timing: { keepAliveMs: 1_000 } });
    await stage.ask();
    await settle();
    const { last } = stage.puppet;
    stage.clock.increment(999);
    stage.command({ type: 'leg.audio', sequence: 1 } as never, new Uint8Array(2));
    stage.clock.increment(999);
    expect(last.controls).toEqual([]);
    stage.clock.increment(1);
    stage.clock.increment(1_000);
    expect(last.controls).toEqual(['keepalive', 'keepalive']);
    stage.command({ type: 'leg.close' });
    stage.clock.increment(10_000);
    expect(last.controls).toEqual(['keepalive', 'keepalive']);
    nothingLeft(stage);
  });
});

describe('the deadlines of a leg', () => {
  it.each([
    ['connect', { connectMs: 700 }, 'connect_timeout', 'connect_timeout'],
    ['get ready', { readyMs: 700 }, 'connect_timeout', 'ready_timeout'],
    ['finish', { drainMs: 700 }, 'stalled', 'drain_timeout'],
  ])('hold for %s to the millisecond', async (what, timing, reason, code) => {
    const stage = world({ timing });
    stage.puppet.open = what !== 'connect';
    stage.puppet.ready = what === 'finish';
    await stage.ask();
    await settle();
    stage.command({ type: 'leg.finish' });
    stage.clock.increment(699);
    expect(stage.reports.some(({ type }) => type === 'leg.failed')).toBe(false);
    stage.clock.increment(1);
    expect(stage.reports.at(-1)).toMatchObject({ type: 'leg.failed', failure: { kind: 'next', reason, code } });
    expect([stage.puppet.last.over, stage.puppet.last.closedInOrder]).toEqual([true, false]);
    nothingLeft(stage);
  });
});
