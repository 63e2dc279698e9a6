// The promises of a leg's connection, held once: whether the provider is an engine in this process or behind a WebSocket
// makes no difference to whoever holds the wire, or the leg, or the session.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LegReport, OpenLeg } from '../../machines/events.ts';
import { UpstreamHost } from '../../src/live/upstream/upstream-host.ts';
import { openWire, type WireEndpoint } from '../../src/live/upstream/wire/open-wire.ts';
import type { Wire, WireListener } from '../../src/live/upstream/wire/wire.ts';
import { systemClock } from '../../src/runtime/telemetry/clock.ts';
import type { Incoming, ProviderAccess, ProviderRefusal } from '../../src/vendors/kit/provider.ts';
import { loopback } from '../../src/vendors/loopback/index.ts';
import { LoopbackEngine } from '../../src/vendors/loopback/simulator.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../fakes/audio/numbered-finals.ts';
import { type RigClient, SessionRig } from '../fakes/session-rig.ts';

const RATE = 16_000;

/** How the scripted provider is reached. */
export interface WireWorld {
  endpoint: WireEndpoint;
  access: ProviderAccess;
  /** Resolves when the provider has no connection any more. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Keeps what happens on a wire, as one line each, and waits for a line. */
export class WireLog implements WireListener {
  readonly lines: string[] = [];
  private waiting: { pattern: RegExp; resolve: (line: string) => void }[] = [];

  opened = (): void => this.note('opened');
  simulated = (): void => this.note('simulated');
  message = (message: Incoming): void =>
    this.note(
      `message ${'text' in message ? message.text : JSON.stringify('json' in message ? message.json : message.bytes.length)}`,
    );
  alive = (): void => this.note('alive');
  drained = (): void => this.note('drained');
  closed = (code: number, reason: string): void => this.note(`closed ${code} ${reason}`.trim());
  refused = ({ status, body }: ProviderRefusal): void => this.note(`refused ${status} ${body}`.trim());
  unreachable = (message: string): void => this.note(`unreachable ${message}`);

  /** The first line that matches, now or later. */
  async line(pattern: RegExp): Promise<string> {
    const known = this.lines.find((line) => pattern.test(line));
    return known ?? new Promise((resolve) => this.waiting.push({ pattern, resolve }));
  }

  private note(line: string): void {
    this.lines.push(line);
    for (const { resolve } of this.waiting.filter(({ pattern }) => pattern.test(line))) resolve(line);
    this.waiting = this.waiting.filter(({ pattern }) => !pattern.test(line));
  }
}

const start = (params: object = {}) => ({
  type: 'start',
  model: 'numbered',
  sampleRate: RATE,
  interims: false,
  params,
});
/** Sockets and timers of this process. */
const resources = () =>
  process.getActiveResourcesInfo().filter((each) => each === 'Timeout' || each === 'TCPSocketWrap').length;
const turn = () => new Promise((resolve) => setImmediate(resolve));

export function wireSuite(name: string, begin: (engine: LoopbackEngine) => Promise<WireWorld>): void {
  const engine = new LoopbackEngine(systemClock);
  let world: WireWorld;
  beforeAll(async () => {
    world = await begin(engine);
  });
  afterAll(() => world.close());

  const open = (): { wire: Wire; log: WireLog } => {
    const log = new WireLog();
    return { log, wire: openWire(world.endpoint, { loopback: engine }, log, systemClock) };
  };
  const expectGone = async () => {
    await world.idle();
    await turn();
    expect(engine.connections).toBe(0);
  };

  describe(`${name}: a wire`, () => {
    it('opens, carries messages and audio in order, and reports its end once', async () => {
      const { wire, log } = open();
      expect(log.lines).toEqual([]);
      await log.line(/opened/);
      wire.send(start({ turn_seconds: 0.1 }));
      await log.line(/ready/);
      const frame = numberedAudio(0, 1_600);
      wire.send(frame);
      // The caller's buffer is its own again.
      frame.fill(0);
      wire.send(numberedAudio(1_600, 3_200));
      wire.send(JSON.stringify({ type: 'finish' }));
      await log.line(/finished/);
      wire.close();
      wire.close();
      await log.line(/closed/);
      wire.send(start());
      wire.close();
      wire.terminate();
      await expectGone();
      expect(log.lines.filter((line) => !line.includes('speech_started')).map((line) => line.slice(0, 44))).toEqual([
        'opened',
        'message {"type":"ready"}',
        'message {"type":"final","turn":0,"text":"0-1600"'.slice(0, 44),
        'message {"type":"final","turn":1,"text":"1600'.slice(0, 44),
        'message {"type":"finished"}',
        'closed 1000',
      ]);
    });

    it.each([1000, 1008, 1011, 4001])('passes on the close code %d', async (code) => {
      const { wire, log } = open();
      await log.line(/opened/);
      wire.send(start({ fail: { how: 'refuse', code } }));
      expect(await log.line(/closed/)).toBe(`closed ${code} refused by the script`);
      await expectGone();
      expect(log.lines).toHaveLength(2);
      expect(wire.bufferedBytes).toBe(0);
    });

    it.each<[string, (wire: Wire, log: WireLog) => unknown]>([
      ['as soon as it was made', () => {}],
      ['when it is open', (_, log) => log.line(/opened/)],
      [
        'in mid-stream',
        async (wire, log) => {
          await log.line(/opened/);
          wire.send(start());
          await log.line(/ready/);
          wire.send(numberedAudio(0, RATE));
        },
      ],
      [
        'while it closes',
        async (wire, log) => {
          await log.line(/opened/);
          wire.close();
        },
      ],
    ])('terminated %s reports nothing more, and leaves no connection', async (_, reach) => {
      const { wire, log } = open();
      await reach(wire, log);
      const before = [...log.lines];
      wire.terminate();
      wire.terminate();
      wire.send(start());
      wire.close();
      await expectGone();
      expect(log.lines).toEqual(before);
    });
  });

  describe(`${name}: a leg`, () => {
    /** Opens a leg and keeps its reports. */
    function leg(params: Record<string, unknown>) {
      const upstream = new UpstreamHost({
        providers: new Map([['loopback', loopback]]),
        engines: { loopback: engine },
        access: () => world.access,
        clock: systemClock,
      });
      const reports: LegReport[] = [];
      let tell: (() => void) | undefined;
      const request: OpenLeg = {
        type: 'leg.open',
        session: '',
        sessionId: 'ses_1',
        generation: 7,
        slug: 'loopback/numbered',
        sampleRate: RATE,
        language: null,
        interimResults: false,
        diarization: false,
        params,
        credentialId: 'service',
        organisationId: 'org_1',
      };
      const handle = upstream.open('leg.1', request, (report) => {
        reports.push(report);
        tell?.();
      });
      const until = async (type: LegReport['type']) => {
        while (!reports.some((report) => report.type === type)) {
          await new Promise<void>((resolve) => {
            tell = resolve;
          });
        }
        return reports.find((report) => report.type === type) as LegReport;
      };
      return { upstream, handle, reports, until };
    }

    it('numbers its reports, says how it ended, and holds nothing after', async () => {
      const { upstream, handle, reports, until } = leg({});
      await until('leg.ready');
      handle.command({ type: 'leg.audio', sequence: 1 }, numberedAudio(0, RATE));
      handle.command({ type: 'leg.finish' });
      await until('leg.finished');
      expect(reports.map(({ sequence, generation }) => [sequence, generation])).toEqual(
        reports.map((_, index) => [index + 1, 7]),
      );
      expect(upstream.size).toBe(0);
      handle.command({ type: 'leg.audio', sequence: 2 }, numberedAudio(0, 10));
      handle.dispose();
      await expectGone();
    });

    it.each([
      [
        { how: 'refuse', code: 4_000 },
        { kind: 'next', reason: 'upstream_closed', code: 'close_4000' },
      ],
      [
        { how: 'close', at_seconds: 0.1 },
        { kind: 'next', reason: 'upstream_closed', code: 'close_1011' },
      ],
      [
        { how: 'close', at_seconds: 0.1, code: 1_000 },
        { kind: 'next', reason: 'upstream_closed', code: 'close_1000' },
      ],
      [
        { how: 'error', at_seconds: 0.1, kind: 'account' },
        { kind: 'account', reason: 'upstream_error', code: 'account' },
      ],
    ])('fails as its provider does: %j', async (fail, failure) => {
      const { upstream, handle, reports, until } = leg({ fail });
      if (fail.how !== 'refuse') {
        await until('leg.ready');
        handle.command({ type: 'leg.audio', sequence: 1 }, numberedAudio(0, RATE));
      }
      expect(await until('leg.failed')).toMatchObject({ failure });
      expect([upstream.size, reports.at(-1)?.type]).toEqual([0, 'leg.failed']);
      await expectGone();
    });

    it('dropped with its host leaves no connection, and says nothing', async () => {
      const { upstream, until, reports } = leg({});
      await until('leg.ready');
      upstream.close();
      await expectGone();
      expect([upstream.size, reports.length]).toEqual([0, 1]);
    });
  });

  describe(`${name}: a session`, () => {
    const session = async (rig: SessionRig, params: Record<string, unknown>): Promise<RigClient> => {
      const client = await rig.open({
        model: 'loopback/numbered',
        providerParams: { turn_seconds: 0.7, final_delay_ms: 20, ...params },
        fallbacks: [{ model: 'loopback/numbered', provider_params: { turn_seconds: 0.9 } }],
      });
      for (let at = 0; at < 20 * RATE; at += 999) {
        client.session.audio(numberedAudio(at, Math.min(20 * RATE, at + 999)));
        if (at % 5 === 0) await turn();
      }
      client.session.control({ type: 'close' });
      await client.ended();
      return client;
    };

    it.each([
      ['is transcribed whole, by the real clock', {}, []],
      [
        'is transcribed whole when its provider hangs up',
        { fail: { how: 'close', at_seconds: 7.7 } },
        ['upstream_closed'],
      ],
    ])('%s', async (_, params, failovers) => {
      const before = resources();
      const rig = new SessionRig({
        clock: systemClock,
        access: () => world.access,
        engines: () => ({ loopback: engine }),
      });
      const client = await session(rig, params);
      expect(client.closeCode).toBe(1000);
      expect(client.of('failover').map(({ reason }) => reason)).toEqual(failovers);
      expectWhole(client.finals, 20 * RATE);
      expect([rig.sessions.size, rig.upstream.size, rig.faults]).toEqual([0, 0, []]);
      await expectGone();
      expect(resources()).toBeLessThanOrEqual(before);
    });
  });
}
