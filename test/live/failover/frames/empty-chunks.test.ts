// What leaves for providers whatever a client's chunks are, with every protocol: no frame without audio, which ends a session at some
// and breaks it at others.
import { describe, expect, it } from 'vitest';
import { simulators } from '../../../../src/vendors/simulators.ts';
import { seeded } from '../../../fakes/random.ts';
import { noting } from '../../../suites/provider/simulated-leg.ts';
import { expectAllHeard, Incident } from '../incident.ts';
import { DRAWN } from '../protocols.ts';

/** A message that should hold audio. One that ends a turn may hold none: that is how ElevenLabs' is written. */
const EMPTY_AUDIO = /"(?:audio\w*|data|chunk|payload)":""/;
const ENDS_TURN = /"commit":true/;

/** As text frames an empty one is the end of a stream at Soniox: it may be the last. */
const isEmpty = (frame: string | Uint8Array, index: number, all: readonly unknown[]): boolean => {
  if (typeof frame !== 'string') return frame.byteLength === 0;
  return frame === '' ? index < all.length - 1 : EMPTY_AUDIO.test(frame) && !ENDS_TURN.test(frame);
};

describe.each(DRAWN)('$slug', ({ slug, provider }) => {
  /** A session of a client that sends empty chunks, lone bytes and long ones, asks for ends of turns before there are any, and ends with an empty chunk. */
  async function play() {
    const frames: (string | Uint8Array)[] = [];
    const known = simulators.find((simulator) => simulator.provider === provider)!;
    const simulator = noting(known, (frame) => frames.push(typeof frame === 'string' ? frame : frame.slice()));
    const incident = new Incident({ simulator });
    const caller = await incident.call([slug]);
    const random = seeded(7);
    const { session } = caller.client;
    const { audio } = session;
    session.audio = (bytes) => {
      for (const part of [bytes.subarray(0, 0), bytes.subarray(0, 1), bytes.subarray(1), bytes.subarray(0, 0)])
        audio.call(session, part);
      if (random.next() < 0.02) session.control({ type: 'keepalive' });
    };
    session.audio(new Uint8Array(0));
    session.control({ type: 'finalize' });
    session.control({ type: 'finalize' });
    incident.speak(caller, { chunkBytes: () => random.pick([2, 38, 640, 3_202, 9_998]) });
    await incident.ended(caller);
    return { incident, caller, frames };
  }

  it('receives no frame without audio for chunks of any size', async () => {
    const { incident, caller, frames } = await play();
    expect(frames.filter(isEmpty)).toEqual([]);
    expect(incident.failures).toEqual([]);
    expectAllHeard(caller, incident);
    await incident.close();
  });
});
