// Thousands of simulated sessions with one to six faults each, drawn from seeds: whatever happens to its providers, a session
// with one good model left tells of every sample once, in order, and leaves nothing behind. A failure names its seed;
// SIMULATION_SEED=<seed> plays that one alone, SIMULATION_SEEDS=<count> so many.
import { expect, test } from 'vitest';
import { expectInOrder } from '../session/support.ts';
import { type Scenario, scenarioOf } from './scenario.ts';
import { type Played, simulate } from './simulate.ts';
import { gapsIn } from './whole.ts';

const only = process.env.SIMULATION_SEED;
const count = Number(process.env.SIMULATION_SEEDS ?? 1_000);
/** Tests in one file run one after the other: the seeds are dealt to them in blocks, so that a failure is found soon. */
const BLOCK = 250;

const blocks = Array.from({ length: Math.ceil(count / BLOCK) }, (_, index) => ({
  from: index * BLOCK + 1,
  to: Math.min(count, (index + 1) * BLOCK),
}));

function problemsOf({ client, rig, left }: Played, { sampleRate, chain, chunks }: Scenario): string[] {
  const samples = chunks.reduce((sum, chunk) => sum + chunk.samples, 0);
  const [ended] = client.of('session_ended');
  const problems = gapsIn(
    client.finals,
    samples,
    sampleRate,
    chain.map(({ slug }) => slug),
  );
  if (client.closeCode !== 1000) problems.push(`closed with ${client.closeCode}`);
  for (const { from, to } of client.of('discontinuity')) problems.push(`lost ${from} s to ${to} s`);
  for (const { name, error } of rig.faults) problems.push(`fault in ${name}: ${error}`);
  for (const [what, number] of Object.entries(left)) if (number !== 0) problems.push(`${number} ${what} left`);
  const billed = ended?.usage.reduce((sum, { seconds }) => sum + seconds, 0) ?? 0;
  if (Math.abs(billed - samples / sampleRate) > 0.002 * (ended?.usage.length ?? 1))
    problems.push(`billed ${billed} s of ${samples / sampleRate} s`);
  return problems;
}

/** What a client heard, without the names that are new each time. */
const heard = ({ client }: Played): string[] =>
  client.events.map((event) => JSON.stringify({ ...event, session_id: '' }));

async function check(seed: number): Promise<void> {
  const scenario = scenarioOf(seed);
  const played = await simulate(scenario);
  const problems = problemsOf(played, scenario);
  expect(
    problems,
    `SIMULATION_SEED=${seed}: ${JSON.stringify({ ...scenario, chunks: scenario.chunks.length })}`,
  ).toEqual([]);
  expectInOrder(played.client);
}

if (only === undefined) {
  test.each(blocks)(
    'seeds $from to $to: every sample once, in order, and nothing left',
    async ({ from, to }) => {
      for (let seed = from; seed <= to; seed++) await check(seed);
    },
    240_000,
  );

  test('a seed replays identically, event by event', async () => {
    for (let seed = 1; seed <= 25; seed++) {
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
