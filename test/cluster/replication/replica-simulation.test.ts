// `REPLICA_SEEDS=1000` plays more of them, `REPLICA_SEED=7` begins with another one.
import { expect, test } from 'vitest';
import { simulateReplicas } from './replica-simulation.ts';

const SEEDS = Number(process.env.REPLICA_SEEDS ?? 15);
const FIRST = Number(process.env.REPLICA_SEED ?? 1);
const seeds = Array.from({ length: SEEDS }, (_, index) => FIRST + index);
/** For each seed: a minute under disturbances has far more. */
const ANSWERED_MIN = 500;

test.each([
  ['with kills, pauses and partitions', false],
  ['with a log that forgets its end', true],
])(
  'replicas of the accounts lose no answered call and apply none twice, %s',
  async (_, forgets) => {
    const problems: string[] = [];
    for (const seed of seeds) {
      const result = await simulateReplicas({ seed, forgets });
      problems.push(...result.problems.slice(0, 3).map((problem) => `seed ${seed}: ${problem}`));
      if (result.answered < ANSWERED_MIN) problems.push(`seed ${seed}: only ${result.answered} calls were answered`);
    }
    expect(problems).toEqual([]);
  },
  SEEDS * 1_000 + 10_000,
);
