// Between a session and its leg: what is numbered is checked, what is lost is made good, what is retired is dropped; the end
// of a turn comes behind its audio; a leg is taken for dead when it should have spoken, and only then.
import { describe, expect, it, vi } from 'vitest';
import type { Heard } from '../../../../machines/events.ts';
import { legActor } from '../../../../src/cluster/bus/subjects.ts';
import type { LiveTiming } from '../../../../src/vendors/kit/provider.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../../fakes/audio/numbered-finals.ts';
import { SessionRig, settle } from '../../../fakes/session-rig.ts';
import { failure, puppetRig } from '../puppet.ts';
import { expectInOrder, expectNothingLeft, hum, RATE, speech, untilEnded } from '../support.ts';

const numbered = (rig: SessionRig) =>
  rig.open({ model: 'loopback/numbered', providerParams: { turn_seconds: 0.7, final_delay_ms: 200 } });
const final = (text: string, start: number, end: number): Heard => ({
  type: 'turn.ended',
  turnId: text,
  formattedFollows: false,
  utterance: { text, start, end },
});

describe('a numbered message', () => {
  it.each([
    ['a report', 'ses'],
    ['an audio frame', 'leg'],
  ])('%s out of its order fails the leg, and costs no sample', async (_, side) => {
    const rig = new SessionRig();
    const client = await numbered(rig);
    const { sessionId } = client.session.opening;
    const leg = rig.bus.address(legActor(sessionId, 1));
    for (let tenth = 0; tenth < 30; tenth++) {
      client.session.audio(numberedAudio(tenth * 1_600, (tenth + 1) * 1_600));
      await rig.advance(100);
      if (tenth !== 14) continue;
      const session = rig.bus.address(sessionId);
      if (side === 'ses') rig.bus.send(session, leg, { type: 'leg.heard', generation: 1, sequence: 99 } as never);
      else rig.bus.send(leg, session, { type: 'leg.audio', sequence: 99 } as never, new Uint8Array(2));
    }
    client.session.control({ type: 'close' });
    await untilEnded(rig, client);
    expectWhole(client.finals, 3 * RATE);
    expect(client.of('warning').map(({ code }) => code)).toEqual(['upstream_reconnected']);
    expect([client.closeCode, rig.faults]).toEqual([1000, []]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('makes a leg fail whose audio came without its bytes', async () => {
    const rig = new SessionRig();
    const client = await numbered(rig);
    const { sessionId } = client.session.opening;
    rig.bus.send(rig.bus.address(legActor(sessionId, 1)), rig.bus.address(sessionId), {
      type: 'leg.audio',
      sequence: 1,
    } as never);
    await rig.advance(500);
    expect(client.of('warning').map(({ code }) => code)).toEqual(['upstream_reconnected']);
  });
});

describe('a retired leg', () => {
  it('delivers no more: its reports are counted, and it receives a close', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    client.session.audio(hum(1));
    await puppet.last.hangUp(1011);
    const told: string[] = [];
    const stale = rig.bus.address('stale');
    rig.bus.attach('stale', ({ body }) => told.push(body.type));
    const session = rig.bus.address(client.session.opening.sessionId);
    for (const report of [
      { type: 'leg.heard', sequence: 1, heard: final('late', 0, 1) },
      { type: 'leg.failed', sequence: 2, failure: failure('caller') },
      { type: 'leg.finished', sequence: 3 },
    ]) {
      rig.bus.send(session, stale, { ...report, generation: 1 } as never);
    }
    expect(told).toEqual(['leg.close', 'leg.close', 'leg.close']);
    expect([client.finals, rig.drops.late_report, client.closeCode]).toEqual([[], 3, undefined]);
    await puppet.last.say(final('a', 0, 1));
    expect(client.finals).toHaveLength(1);
  });

  it('holds no connection when it opened after its session had released it', async () => {
    const { rig, puppet } = puppetRig();
    const opening = rig.open({ model: 'puppet/a' });
    // The leg is asked for over the bus, and the session ends before the answer.
    const open = vi.spyOn(rig.upstream, 'open').mockImplementationOnce((...args) => {
      rig.sessions.close();
      return rig.upstream.open(...args);
    });
    const client = await opening;
    await settle();
    expect(open).toHaveBeenCalled();
    expect(client.closeCode).toBe(4200);
    expect(puppet.connections.filter(({ over }) => !over)).toEqual([]);
    await expectNothingLeft(rig);
  });

  it('closes when it opened for an abandoned generation, while the session continues', async () => {
    const { rig, puppet } = puppetRig();
    const request = rig.bus.request.bind(rig.bus);
    vi.spyOn(rig.bus, 'request').mockImplementationOnce(async (...args) => {
      const answer = request(...args);
      // As with a node far away: the request seems lost, and is not.
      answer.catch(() => {});
      throw new Error('timed out');
    });
    const client = await rig.open({ model: 'puppet/a' });
    await rig.advance(500);
    expect(puppet.connections.map(({ over }) => over)).toEqual([true, false]);
    expect([client.closeCode, rig.upstream.size, rig.bus.actors]).toEqual([undefined, 1, 2]);
  });
});

describe('a leg that cannot be opened', () => {
  it('counts as a failed attempt: the next candidate is tried, and each fault reported once', async () => {
    const rig = new SessionRig();
    const open = vi.spyOn(rig.upstream, 'open').mockImplementationOnce(() => {
      throw new Error('no such model here');
    });
    const client = await rig.open({ fallbacks: [{ model: 'loopback/numbered' }] });
    expect(client.of('failover')).toMatchObject([{ reason: 'connect_failed', to: 'loopback/numbered' }]);
    expect(rig.faults).toMatchObject([{ name: 'openLeg' }]);
    expect(open).toHaveBeenCalledTimes(2);
    client.session.control({ type: 'close' });
    await rig.advance(100);
    await expectNothingLeft(rig);
  });
});

describe('finalize', () => {
  it('ends the turn at the requested position when it arrives before the leg is ready', async () => {
    const { rig, puppet } = puppetRig();
    puppet.ready = false;
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(hum(1));
    client.session.control({ type: 'finalize' });
    client.session.audio(hum(1));
    expect(puppet.last.controls).toEqual([]);
    await puppet.last.say({ type: 'ready' });
    expect(puppet.last.controls).toEqual(['finalize']);
    // Frames are not cut for it: the end is named with the frame that holds it.
    expect(puppet.last.controlsAt[0]).toBeGreaterThanOrEqual(RATE);
    expect(puppet.last.controlsAt[0]).toBeLessThanOrEqual(RATE + RATE / 10);
    expect(puppet.last.samples).toBe(2 * RATE);
  });

  it('follows its audio on a leg that takes audio slowly, in whole frames only', async () => {
    const frame = { minMs: 50, idealMs: 100, maxMs: 200, tail: 'pad' } as const;
    const { rig, puppet } = puppetRig({ timing: { speedMax: 1, burstMs: 100, frame } });
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(speech(2.01));
    client.session.control({ type: 'finalize' });
    await rig.advance(1_000, 50);
    expect(puppet.last.controls).toEqual([]);
    await rig.advance(1_500, 50);
    expect(puppet.last.controls).toEqual(['finalize']);
    expect(puppet.last.controlsAt[0]).toBeGreaterThanOrEqual(1.96 * RATE);
  });

  it('goes to the next leg too when the first failed before it ended the turn', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    client.session.audio(hum(1));
    client.session.control({ type: 'finalize' });
    await puppet.last.hangUp(1011);
    expect([puppet.last.controls, puppet.last.controlsAt]).toEqual([['finalize'], [RATE]]);
    await puppet.last.say(final('a', 0, 1));
    await puppet.last.hangUp(1011);
    await rig.advance(1_000);
    expect([puppet.connections.length, puppet.last.controls]).toEqual([3, []]);
  });
});

describe('the stall watch', () => {
  const say: Heard = { type: 'partial', turnId: '1', utterance: { text: 'a', start: 0, end: 0.1 } };

  /** Sends audio of a kind in real time. */
  async function stream(rig: SessionRig, send: (chunk: Uint8Array) => void, chunk: Uint8Array, seconds: number) {
    for (let tenth = 0; tenth < seconds * 10; tenth++) {
      send(chunk);
      await rig.advance(100);
    }
  }

  it.each([0, 1, 3.9, 7.7, 20.1])(
    'gives a provider its whole limit to answer speech that begins after %d s of silence',
    async (quiet) => {
      const { rig, puppet } = puppetRig();
      const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
      const send = (chunk: Uint8Array) => client.session.audio(chunk);
      await stream(rig, send, hum(0.1), quiet);
      await stream(rig, send, speech(0.1), 7.9);
      expect(client.of('failover')).toEqual([]);
      await puppet.last.say(say);
      await stream(rig, send, speech(0.1), 7.9);
      expect(client.of('failover')).toEqual([]);
      await stream(rig, send, speech(0.1), 2.6);
      expect(client.of('failover')).toMatchObject([{ reason: 'stalled' }]);
    },
  );

  describe('a leg that has answered promptly', () => {
    const quiet = new Uint8Array(hum(0.1).byteLength);

    interface Told {
      answers?: LiveTiming['answers'];
      fallbacks?: readonly string[];
      /** Seconds of speech before each answer. */
      everySeconds?: number;
      times?: number;
    }

    /** A session with answers to speech behind it. */
    async function prompt({ answers = 'words', fallbacks = ['puppet/b'], everySeconds = 0.5, times = 6 }: Told = {}) {
      const { rig, puppet } = puppetRig({ timing: { answers, turnPauseMs: 500 } });
      const client = await rig.open({ model: 'puppet/a', fallbacks: fallbacks.map((model) => ({ model })) });
      const play = (chunk: Uint8Array, seconds: number) =>
        stream(rig, (sent) => client.session.audio(sent), chunk, seconds);
      for (let answer = 0; answer < times; answer++) {
        await play(speech(0.1), everySeconds);
        if (answers === 'pauses') await play(quiet, 0.7);
        await puppet.last.say(say);
      }
      return { client, puppet, play };
    }
    const failovers = ({ client }: Awaited<ReturnType<typeof prompt>>) => client.of('failover').length;

    it('takes it for dead before its limit where another model could take over', async () => {
      const session = await prompt();
      await session.play(speech(0.1), 3.9);
      expect(failovers(session)).toBe(0);
      await session.play(speech(0.1), 0.2);
      expect(failovers(session)).toBe(1);
    });

    it.each([
      [0.5, 3],
      [0.9, 3.6],
      [1.2, 4],
    ])(
      'more than twenty answers within %d s each: it is left after %d s, not before',
      async (everySeconds, seconds) => {
        const session = await prompt({ everySeconds, times: 22 });
        await session.play(speech(0.1), seconds - 0.1);
        expect(failovers(session)).toBe(0);
        await session.play(speech(0.1), 0.3);
        expect(failovers(session)).toBe(1);
      },
    );

    it('fails over as soon as 2 s of speech have no answer, when the bound is past', async () => {
      const session = await prompt({ times: 22 });
      await session.play(speech(0.1), 1.5);
      await session.play(quiet, 3);
      await session.play(speech(0.1), 0.4);
      expect(failovers(session)).toBe(0);
      await session.play(speech(0.1), 0.4);
      expect(failovers(session)).toBe(1);
    });

    it.each<[string, Told, (play: Awaited<ReturnType<typeof prompt>>['play']) => Promise<void>]>([
      ['no other model could take over', { fallbacks: [] }, (play) => play(speech(0.1), 7.5)],
      ['the time of its answer is unknown', { answers: 'late' }, (play) => play(speech(0.1), 7.5)],
      ['it took half as long before', { everySeconds: 2.4 }, (play) => play(speech(0.1), 6.9)],
      ['the client has not paused', { answers: 'pauses' }, (play) => play(speech(0.1), 7.5)],
      [
        'there was a noise',
        {},
        async (play) => {
          await play(speech(0.1), 1.5);
          await play(quiet, 6);
        },
      ],
    ])('gives it its whole limit when %s', async (_, told, go) => {
      const session = await prompt(told);
      await go(session.play);
      expect([failovers(session), session.client.of('warning')]).toEqual([0, []]);
    });

    it('counts from the pause where that is what it answers', async () => {
      const session = await prompt({ answers: 'pauses' });
      await session.play(speech(0.1), 2);
      await session.play(quiet, 4.4);
      expect(failovers(session)).toBe(0);
      await session.play(quiet, 0.3);
      expect(failovers(session)).toBe(1);
    });

    it('notices sound that gets no answer', async () => {
      const session = await prompt();
      await session.play(speech(0.1), 3.5);
      await session.puppet.last.say(say);
      await session.play(speech(0.1), 7.5);
      expect(failovers(session)).toBe(0);
    });
  });

  it('keeps a leg that receives hum for an hour, or nothing', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a' });
    await stream(rig, (chunk) => client.session.audio(chunk), hum(0.1), 60);
    for (let minute = 0; minute < 60; minute++) {
      client.session.control({ type: 'keepalive' });
      await rig.advance(25_000, 5_000);
      client.session.control({ type: 'keepalive' });
      await rig.advance(25_000, 5_000);
    }
    expect([puppet.connections.length, client.closeCode]).toEqual([1, undefined]);
  });

  it('does not take a long turn for a stall because the client wants no interims', async () => {
    const rig = new SessionRig();
    const client = await rig.open({
      interimResults: false,
      providerParams: { turns: [{ text: 'a long speech', seconds: 30 }] },
    });
    await stream(rig, (chunk) => client.session.audio(chunk), speech(0.1), 30);
    expect([client.of('failover'), client.of('warning')]).toEqual([[], []]);
    expect(client.of('transcript').map(({ is_final }) => is_final)).toEqual([true]);
  });
});

describe('a leg under pressure', () => {
  it('holds audio back until there is room, and then gives all of it', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a' });
    puppet.last.bufferedBytes = 300_000;
    client.session.audio(hum(0.1));
    const before = puppet.last.samples;
    client.session.audio(hum(5));
    client.session.control({ type: 'finalize' });
    await rig.advance(1_000);
    expect([puppet.last.samples, puppet.last.controls]).toEqual([before, []]);
    puppet.last.bufferedBytes = 0;
    puppet.last.listener.drained();
    await rig.advance(100);
    expect([puppet.last.samples, puppet.last.controls]).toEqual([5.1 * RATE, ['finalize']]);
    client.session.control({ type: 'close' });
    await puppet.last.say({ type: 'finished' });
    await expectNothingLeft(rig);
  });

  it('fails when it holds more than its bound, and the next is given the audio', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    client.session.audio(hum(1));
    puppet.last.bufferedBytes = 1_048_577;
    client.session.audio(hum(1));
    await settle();
    expect(client.of('failover')).toMatchObject([{ reason: 'stalled' }]);
    await rig.advance(100);
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, 2 * RATE]);
  });

  it('delays nothing on the next leg when it fails', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
    puppet.last.bufferedBytes = 300_000;
    client.session.audio(hum(0.1));
    client.session.audio(hum(1));
    await puppet.last.hangUp(1011);
    await rig.advance(100);
    expect([puppet.connections.length, puppet.last.samples]).toEqual([2, 1.1 * RATE]);
  });
});

describe('a leg that takes audio slowly', () => {
  it('leaves no timer when its session ends while audio waits', async () => {
    const { rig } = puppetRig({ timing: { speedMax: 1, burstMs: 100 } });
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(hum(10));
    await rig.advance(500);
    client.session.abort('internal_error', 'Over.');
    await rig.advance(10, 10);
    await expectNothingLeft(rig);
  });
});
