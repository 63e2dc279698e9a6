// Hundreds of simulated sessions with one to six faults each, drawn from seeds: whatever happens to its providers, a session
// with one good model left tells of every sample once, in order, and leaves nothing behind. A failure names its seed;
// SIMULATION_SEED=<seed> plays that one alone. A thousand more are in slow/.
import { expect, test } from 'vitest';
import {
  blocksOf,
  checkCeilings,
  checkReturns,
  checkSeeds,
  problemsOf,
  QUICK_SEEDS,
  REMEMBERED_SEEDS,
} from './check.ts';
import { scenarioOf } from './scenario.ts';
import { type Played, simulate } from './simulate.ts';

const only = process.env.SIMULATION_SEED;

/** What a client heard, without the names that are new each time. */
const heard = ({ client }: Played): string[] =>
  client.events.map((event) => JSON.stringify({ ...event, session_id: '' }));

if (only === undefined) {
  test.each(blocksOf(1, QUICK_SEEDS))('seeds $from to $to: every sample once, in order, and nothing left', checkSeeds);

  test.each(blocksOf(1, QUICK_SEEDS))(
    'seeds $from to $to: the same with returns to the first model, which is lost again and again',
    checkReturns,
  );

  test.each(blocksOf(1, QUICK_SEEDS))(
    'seeds $from to $to: the same of sessions that reach a ceiling on spend, which leaves the last model',
    checkCeilings,
  );

  test.each(REMEMBERED_SEEDS)('seed %i, which has failed before, holds', (seed) =>
    checkSeeds({ from: seed, to: seed }),
  );

  test('replays a seed identically, event by event', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const scenario = scenarioOf(seed);
      expect(scenarioOf(seed)).toEqual(scenario);
      expect(heard(await simulate(scenario))).toEqual(heard(await simulate(scenario)));
    }
  });
} else {
  test(`seed ${only} holds`, async () => {
    const scenario = scenarioOf(Number(only));
    console.log(JSON.stringify({ ...scenario, chunks: scenario.chunks.length }, null, 1));
    const played = await simulate(scenario);
    for (const event of played.client.events) console.log(JSON.stringify(event).slice(0, 300));
    expect(problemsOf(played, scenario)).toEqual([]);
  });
}
