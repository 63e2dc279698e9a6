// What every test of live sessions checks and does: the promises that hold for any session, that nothing is left behind,
// and the few moves that bring a session to its end.
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { expect } from 'vitest';
import type { SimulatedClock } from 'xstate';
import { ServerEvent } from '../../../src/api/listen-events.ts';
import { type RigClient, type SessionRig, settle } from '../../fakes/session-rig.ts';

export const RATE = 16_000;

/** Loud enough for the speech meter, whatever its windows. */
export const speech = (seconds: number, rate = RATE): Uint8Array => squareWave(8_000, seconds, rate);

/** A quiet room, at -55 dBFS: to be heard, and no speech. */
export const hum = (seconds: number, rate = RATE): Uint8Array => squareWave(60, seconds, rate);

/** Of 250 Hz. */
function squareWave(height: number, seconds: number, rate: number): Uint8Array {
  const samples = new Int16Array(Math.round(seconds * rate));
  for (let index = 0; index < samples.length; index++)
    samples[index] = Math.floor((index * 500) / rate) % 2 === 0 ? height : -height;
  return new Uint8Array(samples.buffer);
}

export function silence(seconds: number, rate = RATE): Uint8Array {
  return new Uint8Array(Math.round(seconds * rate) * 2);
}

/** Timers of a simulated clock that have not fired. */
export const timersOf = (clock: SimulatedClock): number =>
  (Reflect.get(clock, 'timeouts') as Map<unknown, unknown>).size;

/** Everything that a session may leave behind, counted. */
export function leftBehind(rig: SessionRig): Record<string, number> {
  const phases = Object.values(rig.sessions.countByPhase()).reduce((sum, count) => sum + count, 0);
  return {
    sessions: rig.sessions.size,
    phases,
    legs: rig.upstream.size,
    connections: rig.engine.connections,
    actors: rig.bus.actors,
    timers: timersOf(rig.clock),
  };
}

export const NOTHING_LEFT = { sessions: 0, phases: 0, legs: 0, connections: 0, actors: 0, timers: 0 };

export async function expectNothingLeft(rig: SessionRig): Promise<void> {
  await settle();
  // Breakers are the node's: one that is open stays so.
  rig.breakers.close();
  expect(leftBehind(rig)).toEqual(NOTHING_LEFT);
}

/**
 * What holds for every session, however it ends: events as the schema has them, numbered without gaps; the start first, the
 * end last and once; turns numbered without gaps, one final each and nothing of a turn after its final; times that rise.
 */
export function expectInOrder(client: RigClient): void {
  expectBounds(client);
  const { events } = client;
  const types = events.map(({ type }) => type);
  const faults = events.filter((event, index) => event.seq !== index + 1 || !isServerEvent.Check(event));
  let turn = 0;
  let end = 0;
  for (const event of client.of('transcript')) {
    if (event.turn !== turn || event.start < end || event.end < event.start) faults.push(event);
    if (!event.is_final) continue;
    turn++;
    end = event.end;
  }
  expect(faults).toEqual([]);
  expect([types[0], types.lastIndexOf('session_started')]).toEqual(['session_started', 0]);
  if (types.includes('session_ended')) expect(types.indexOf('session_ended')).toBe(types.length - 1);
}

/**
 * What holds for the bounds of turns, where they were asked for: speech before the first words of each turn; each early end taken
 * back or confirmed, and by the same words, before the next; the end of a turn right behind its final, once.
 */
function expectBounds({ events, session }: RigClient): void {
  const isAskedFor = session.opening.request.turnEvents === true;
  const faults: unknown[] = [];
  let turn = 0;
  let spoken = -1;
  let eager: string | undefined;
  let final: ServerEvent | undefined;
  for (const event of events) {
    if (!isAskedFor && (event.type.startsWith('turn_') || (event.type === 'speech_started' && 'turn' in event)))
      faults.push(event);
    if (!isAskedFor || !('turn' in event)) continue;
    // Between a final and its end is nothing.
    if (event.turn !== turn || (final !== undefined) !== (event.type === 'turn_ended')) faults.push(event);
    if (event.type === 'speech_started') spoken = turn;
    else if (spoken !== turn) faults.push(event);
    if (event.type === 'turn_eager_end') {
      if (eager !== undefined) faults.push(event);
      eager = event.text;
    } else if (event.type === 'turn_resumed') {
      if (eager === undefined) faults.push(event);
      eager = undefined;
    } else if (event.type === 'transcript' && event.is_final) {
      if (eager !== undefined && eager !== event.text) faults.push(event);
      final = event;
    } else if (event.type === 'turn_ended') {
      eager = undefined;
      final = undefined;
      turn++;
    }
  }
  expect(faults).toEqual([]);
  // Nothing stays open when all has been said.
  if (events.at(-1)?.type === 'session_ended') expect([eager, final]).toEqual([undefined, undefined]);
}

const isServerEvent = TypeCompiler.Compile(ServerEvent);

/** Moves the clock until the session has ended. */
export async function untilEnded(rig: SessionRig, client: RigClient, secondsMax = 60): Promise<void> {
  for (let waited = 0; client.summary === undefined && waited < secondsMax; waited++) await rig.advance(1_000, 250);
  expect(client.summary, `the session did not end within ${secondsMax} s`).toBeDefined();
}

/** Types of the events, transcripts and speech starts left out. */
export const storyOf = (client: RigClient): string[] =>
  client.events.map(({ type }) => type).filter((type) => type !== 'transcript' && type !== 'speech_started');
