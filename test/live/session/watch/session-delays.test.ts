// How long things took in a session, as its observers are told: measured from when its audio was handed to the leg.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { SessionDelays } from '../../../../src/live/session/watch/session-delays.ts';
import type { SessionObserver, TurnNote } from '../../../../src/live/session/watch/session-observer.ts';
import { SessionRig } from '../../../fakes/session-rig.ts';
import { puppetRig } from '../puppet.ts';
import { RATE, speech } from '../support.ts';

/** Hands over so many frames of 100 ms in their own time. */
function handOver(delays: SessionDelays, clock: SimulatedClock, from: number, frames: number): number {
  let sample = from;
  for (let frame = 0; frame < frames; frame++) {
    clock.increment(100);
    sample += RATE / 10;
    delays.sent(sample, clock.now());
  }
  return sample;
}

describe('the delays of a session', () => {
  it('count since the audio was handed to the leg, also after a pause', () => {
    const clock = new SimulatedClock();
    const delays = new SessionDelays(clock, RATE);
    delays.begin(0);
    const before = handOver(delays, clock, 0, 20);
    clock.increment(10_000);
    handOver(delays, clock, before, 10);
    clock.increment(300);
    delays.partial(before + 0.5 * RATE);
    clock.increment(200);
    const readMs = clock.now();
    clock.increment(4);
    // Words that end half a second before the last of the audio, and such as end half a second before the pause.
    expect(delays.final(before + 0.5 * RATE, readMs)).toEqual({
      partialMs: expect.closeTo(800, 0),
      finalMs: expect.closeTo(1_004, 0),
      gatewayMs: 4,
    });
    expect(delays.final(before - 0.5 * RATE, readMs)).toMatchObject({ finalMs: expect.closeTo(12_004, 0) });
  });

  it('omit audio that this leg never received, or that is too old', () => {
    const clock = new SimulatedClock();
    const delays = new SessionDelays(clock, RATE);
    delays.begin(0);
    const now = handOver(delays, clock, 0, 2_000);
    expect(delays.final(RATE, clock.now())).toEqual({ gatewayMs: 0 });
    expect(delays.final(now - 30 * RATE, clock.now())).toMatchObject({ finalMs: expect.closeTo(30_000, 0) });
    delays.begin(now);
    expect(delays.final(now - RATE, clock.now())).toEqual({ gatewayMs: 0 });
    expect(delays.final(now + RATE, clock.now())).toEqual({ gatewayMs: 0 });
  });

  it('sample audio once a second, and not after a backlog or without a leg', () => {
    const clock = new SimulatedClock();
    const delays = new SessionDelays(clock, RATE);
    delays.begin(0);
    const told: number[] = [];
    let received = 0;
    for (let frame = 0; frame < 50; frame++) {
      delays.received(received, received);
      received += RATE / 10;
      clock.increment(100);
      const ms = delays.sent(received, clock.now());
      if (ms !== undefined) told.push(ms);
    }
    expect(told).toEqual([100, 100, 100, 100, 100]);
    delays.received(received + 2 * RATE, received);
    expect(delays.sent(received + 3 * RATE, clock.now())).toBeUndefined();
    delays.received(received + 5 * RATE, received + 5 * RATE);
    delays.held();
    expect(delays.sent(received + 6 * RATE, clock.now())).toBeUndefined();
  });
});

function observed() {
  const moments: string[] = [];
  const turns: TurnNote[] = [];
  const passed: number[] = [];
  const observer: SessionObserver = {
    leg: ({ event, model, dialMs }) => moments.push(`${event} ${model}${dialMs === undefined ? '' : ' dialled'}`),
    turn: (turn) => {
      moments.push(`turn ${turn.turn} ${turn.model}`);
      turns.push(turn);
    },
    failover: ({ from, to, reason }) => moments.push(`failover ${from} ${to} ${reason}`),
    warned: (code) => moments.push(`warned ${code}`),
    audioPassed: (_, delayMs) => passed.push(delayMs),
  };
  return { moments, turns, passed, observe: () => observer };
}

describe('an observer of a session', () => {
  it('receives each leg, turn and failover in order', async () => {
    const { moments, observe } = observed();
    const { rig, puppet } = puppetRig({ rig: { observe } });
    const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b', provider_params: {} }] });
    client.session.audio(speech(1));
    await rig.advance(1_000);
    await puppet.last.hangUp(1011);
    await rig.advance(1_000);
    const second = puppet.last;
    await second.say({
      type: 'turn.ended',
      turnId: '1',
      utterance: { text: 'one', start: 0.1, end: 0.9 },
      formattedFollows: false,
    });
    expect(moments).toEqual([
      'asked puppet/a',
      'opened puppet/a',
      'ready puppet/a dialled',
      'failed puppet/a',
      'asked puppet/b',
      'opened puppet/b',
      'ready puppet/b dialled',
      'failover puppet/a puppet/b upstream_closed',
      'turn 0 puppet/b',
    ]);
  });

  it('receives how long words took, and the gateway’s share of it', async () => {
    const { turns, passed, observe } = observed();
    const rig = new SessionRig({ observe });
    const client = await rig.open({ model: 'loopback/numbered', providerParams: { turn_seconds: 1 } });
    await rig.advance(200);
    for (let frame = 0; frame < 40; frame++) {
      client.session.audio(speech(0.1));
      await rig.advance(100);
    }
    expect(turns.length).toBeGreaterThan(2);
    for (const { gatewayMs, finalMs } of turns) {
      expect(gatewayMs).toBe(0);
      expect(finalMs).toBeGreaterThanOrEqual(0);
    }
    expect(passed.length).toBeGreaterThan(2);
  });
});
