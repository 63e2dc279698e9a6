// Every provider that is heard live, failed over to every other: one cut each, drawn from a seed. The text of each turn is in
// its audio, so that what is lost, repeated or put in another order shows. PAIR_SEED=<seed> draws other cuts.
import { describe, expect, test } from 'vitest';
import { seeded } from '../../../fakes/random.ts';
import { expectAllHeard, Incident } from '../incident.ts';
import { PROTOCOLS, PROVIDERS, rateOf } from '../protocols.ts';
import { turnsOf } from '../spoken.ts';

const SEED = Number(process.env.PAIR_SEED ?? 1);
const TURNS = turnsOf(['Good morning.', 'This is the second turn.', 'Yes.', 'Yes.', 'That is all.'], 1.1, 0.9);
/** All speech, and what is heard of each pause by a model that is behind. */
const HEARD_MS = TURNS.reduce((sum, { seconds }) => sum + seconds * 1_000 + 300, 0);
/** Where two models have no rate in common, one of them is sent converted audio. */
const OTHER_RATES = [8_000, 16_000, 24_000, 44_100];

/** One model of each provider: one that speaks a protocol of its own live, where there is one. */
const MODELS = PROVIDERS.flatMap(({ name, models }) => {
  const live = models.filter(({ modes }) => modes.includes('live')).map(({ id }) => id);
  const found = PROTOCOLS.find(({ provider }) => provider === name)?.slug ?? live[0];
  return found === undefined ? [] : [{ name, slug: found }];
});

const ofFiles = (slug: string): boolean => !PROTOCOLS.some((each) => each.slug === slug);

describe.each(MODELS)('$slug', (from) => {
  const at = MODELS.indexOf(from);
  const others = MODELS.filter((each) => each !== from).map((to) => ({
    to: to.slug,
    seed: SEED * 10_000 + at * 100 + MODELS.indexOf(to),
  }));

  test.each(others)('fails over to $to (seed $seed) without losing or repeating a turn', async ({ to, seed }) => {
    const random = seeded(seed);
    const cutMs = random.integer(100, HEARD_MS);
    const fault = random.pick([`drop-after=${cutMs}ms`, `close-after=${cutMs}ms:1011`, `close-after=${cutMs}ms:1000`]);
    const utterances = random.integer(0, TURNS.length - 1);
    const incident = new Incident({
      turns: TURNS,
      // A model of files has a request for each utterance, and no connection.
      ...(ofFiles(from.slug) ? {} : { faults: { [from.name]: [fault] } }),
      dials: { [from.name]: [...Array(ofFiles(from.slug) ? utterances : 1).fill('none'), 'refuse'] },
    });
    const chunk = random.integer(1, 9_000);
    const caller = await incident.play(
      [from.slug, to],
      { chunkBytes: () => 2 * chunk, speed: random.pick([1, 1, 3]) },
      {},
      rateOf([from.slug, to]) ?? random.pick(OTHER_RATES),
    );
    expectAllHeard(caller, incident);
    expect(caller.client.of('failover')).toMatchObject([{ from: from.slug, to }]);
    await incident.close();
  });
});
