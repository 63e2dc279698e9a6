// The ears of a connection that is as good as over: what comes behind the mark is not heard, and no end of it is told.
import { expect, it } from 'vitest';
import { numberedEar } from '../../../../src/vendors/simulation/ears.ts';
import { Hearing } from '../../../../src/vendors/simulation/hearing.ts';
import { settle } from '../../../fakes/session-rig.ts';
import { EventClock } from '../../../simulation/event-clock.ts';

it.each([
  [true, ['reached']],
  [false, ['final', 'finished', 'reached']],
])('turns an end after a deafening mark (%s) into %j', async (deafens, expected) => {
  const heard: string[] = [];
  const hearing = new Hearing({
    openEar: numberedEar({ turnSeconds: 10 })(new EventClock()),
    faults: {},
    marks: [{ seconds: 0.5, deafens, reached: () => heard.push('reached') }],
    onPlayed: () => {},
    finishing: () => {},
    guarded: (work) => work(),
    duringTurn: (_, pass) => pass(),
    whenFinalsAreOut: (work) => work(),
  });
  hearing.begin();
  const ear = hearing.open({ sampleRate: 16_000, language: undefined }, ({ type }) => {
    if (type === 'final' || type === 'finished') heard.push(type);
  });
  ear.audio(new Uint8Array(32_000));
  ear.finish();
  await settle();
  expect(heard).toEqual(expected);
});
