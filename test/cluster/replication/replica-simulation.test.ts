// `REPLICA_SEEDS=1000` plays more of them, `REPLICA_SEED=7` begins with another one.
import { expect, test } from 'vitest';
import { type FaultCounts, simulateReplicas } from './replica-simulation.ts';

const SEEDS_OF_EACH_RUN = 15;
const SEEDS = Number(process.env.REPLICA_SEEDS ?? SEEDS_OF_EACH_RUN);
const FIRST = Number(process.env.REPLICA_SEED ?? 1);
const seeds = Array.from({ length: SEEDS }, (_, index) => FIRST + index);
/** For each seed: a minute under disturbances has far more. */
const ANSWERED_MIN = 500;

test.each([
  ['with kills, pauses, partitions and full disks', false],
  ['with a log that forgets its end or everything', true],
])(
  'replicas of the accounts lose no answered call and apply none twice, %s',
  async (_, forgets) => {
    const problems: string[] = [];
    const faults: FaultCounts = {};
    const takeoverMs: number[] = [];
    for (const seed of seeds) {
      const result = await simulateReplicas({ seed, forgets });
      problems.push(...result.problems.slice(0, 3).map((problem) => `seed ${seed}: ${problem}`));
      for (const [kind, count] of Object.entries(result.faults)) faults[kind] = (faults[kind] ?? 0) + count;
      takeoverMs.push(...result.takeoverMs);
      if (result.answered < ANSWERED_MIN) problems.push(`seed ${seed}: only ${result.answered} calls were answered`);
    }
    if (SEEDS > SEEDS_OF_EACH_RUN) console.info(summaryOf(faults, takeoverMs));
    expect(problems).toEqual([]);
  },
  SEEDS * 1_000 + 10_000,
);

function summaryOf(faults: FaultCounts, takeoverMs: number[]): string {
  const sorted = takeoverMs.toSorted((one, other) => one - other);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  const total = Object.values(faults).reduce((sum, count) => sum + count, 0);
  const counts = Object.entries(faults).toSorted(([one], [other]) => one.localeCompare(other));
  return [
    `${SEEDS} seeds, ${total} faults:`,
    ...counts.map(([kind, count]) => `  ${count} × ${kind}`),
    `  ${sorted.length} takeovers from an owner while the log was there: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms`,
  ].join('\n');
}
