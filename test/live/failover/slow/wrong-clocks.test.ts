// Providers whose clocks go back or run ahead and that fail in the middle of talk: reported words are not transcribed again, and the
// others are not lost, whatever times the provider sent.
import { describe, expect, it } from 'vitest';
import { alteredAnew, type Message } from '../altered.ts';
import { Incident, type IncidentOptions, textsOf } from '../incident.ts';
import { PROTOCOLS } from '../protocols.ts';
import { turnsOf } from '../spoken.ts';
import { shifted } from './disturbances.ts';

const TALK = ['Good morning.', 'This is the second turn.', 'A third.', 'Yes.', 'One more of them.', 'That is all.'];
const KILLS = [3_700, 5_900, 7_500, 9_700];

/** Shifts all times by some seconds, from the first message with a time of `atSeconds` or later. */
const from = (provider: string, atSeconds: number, bySeconds: number) => () => {
  let isOff = false;
  return (message: Message) => {
    isOff ||= shifted(provider, message, 0).latest >= atSeconds;
    return [isOff ? shifted(provider, message, bySeconds).message : message];
  };
};

const CLOCKS: Readonly<Record<string, (provider: string) => Pick<IncidentOptions, 'simulator' | 'faults'>>> = {
  'begins again with each turn': (provider) => ({ faults: { [provider]: ['restart-times'] } }),
  'goes back by two seconds in the second turn': (provider) => ({
    simulator: alteredAnew(provider, from(provider, 2.4, -2)),
  }),
  'goes back to its beginning in the third turn': (provider) => ({
    simulator: alteredAnew(provider, from(provider, 4.4, -4.2)),
  }),
  'runs ahead by an hour in the second turn': (provider) => ({
    simulator: alteredAnew(provider, from(provider, 2.4, 3_600)),
  }),
};

describe.each(PROTOCOLS)('$slug', ({ slug, provider, fallback }) => {
  describe.each(Object.entries(CLOCKS))('whose clock %s', (_, clock) => {
    it.each(KILLS)('keeps every word in one final when it also fails after %i ms', async (killMs) => {
      const { simulator, faults = {} } = clock(provider);
      const incident = new Incident({
        turns: turnsOf(TALK),
        ...(simulator === undefined ? {} : { simulator }),
        faults: { [provider]: [...(faults[provider] ?? []), `drop-after=${killMs}ms`] },
        dials: { [provider]: ['none', 'refuse'] },
      });
      const caller = await incident.play([slug, fallback]);
      expect(textsOf(caller).join(' ').toLowerCase()).toBe(TALK.join(' ').toLowerCase());
      expect(caller.client.of('discontinuity')).toEqual([]);
      await incident.close();
    });
  });
});
