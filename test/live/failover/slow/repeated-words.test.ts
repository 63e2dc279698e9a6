// People repeat words right away, and the times of providers jitter: every genuine final is kept, in its place, whether the provider
// stays or fails. REPEATED_SEEDS=<count> plays more sessions of each kind; a failure names its seed.
import { describe, expect, it } from 'vitest';
import type { Utterance } from '../../../../machines/events.ts';
import { type Random, seeded } from '../../../fakes/random.ts';
import { alteredAnew, type Message } from '../altered.ts';
import { Incident } from '../incident.ts';
import { PROTOCOLS } from '../protocols.ts';
import type { SpokenTurn } from '../spoken.ts';
import { shifted } from './disturbances.ts';

const SEEDS = Number(process.env.REPEATED_SEEDS ?? 3);
const JITTER_SECONDS = 0.1;
const TALK = [
  ...['Yes.', 'Yes.', 'No.', 'No.', 'No.', 'No no no.', 'No no no.'],
  ...['Good morning.', 'Good morning.', 'Yes.', 'Yes.'],
];
/** Jitter of a final and of the one before it, and of the ear. */
const PLACE_SECONDS_MAX = 0.25;

/** Words of 0.25 to 0.35 s, with pauses that are just long enough to end a turn. */
const spokenIn = (random: Random): SpokenTurn[] =>
  TALK.map((text) => ({
    text,
    seconds: text.split(' ').length * (0.25 + random.next() * 0.1),
    pauseSeconds: 0.33 + random.next() * 0.1,
  }));

/** Shifts the times of each message by up to 0.1 s. */
const jittering = (provider: string, random: Random) => () => (message: Message) => [
  shifted(provider, message, (random.next() * 2 - 1) * JITTER_SECONDS).message,
];

const plain = (text: string): string => text.toLowerCase().replace(/[^\w ]/g, '');

function expectPlaces(
  finals: readonly Pick<Utterance, 'start' | 'end'>[],
  turns: readonly SpokenTurn[],
  seed: number,
): void {
  let begins = 0;
  for (const [index, { seconds, pauseSeconds }] of turns.entries()) {
    const { start, end } = finals[index] as Utterance;
    // Some providers count the pause before a turn as part of it.
    expect(start - begins, `seed ${seed}, final ${index}`).toBeLessThan(PLACE_SECONDS_MAX);
    expect(Math.abs(end - begins - seconds), `seed ${seed}, final ${index}`).toBeLessThan(PLACE_SECONDS_MAX);
    begins += seconds + pauseSeconds;
  }
}

describe.each(PROTOCOLS)('$slug', ({ slug, provider, fallback }) => {
  it.each([
    ['stays connected', []],
    ['is reset', ['drop-after=4100ms']],
    ['is closed', ['close-after=5600ms']],
  ])('keeps each repeated word as a separate final, in its place, when it %s', async (_, faults) => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = seeded(seed);
      const turns = spokenIn(random);
      const simulator = alteredAnew(provider, jittering(provider, random));
      const incident = new Incident({ turns, simulator, faults: { [provider]: faults } });
      const { client } = await incident.play([slug, fallback]);
      const finals = client.finals.filter(({ text }) => text !== '');
      expect(finals.map(({ text }) => plain(text)).join(' '), `seed ${seed}`).toBe(plain(TALK.join(' ')));
      expect(client.of('discontinuity')).toEqual([]);
      // Some models join turns whose pauses are short.
      if (finals.length === TALK.length) expectPlaces(finals, turns, seed);
      await incident.close();
    }
  });
});
