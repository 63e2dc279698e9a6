// Whether what a scenario played came to is what every session promises.
import { expect } from 'vitest';
import { microUsdOf } from '../../src/config/prices/price.ts';
import { expectInOrder } from '../live/session/support.ts';
import { boundedScenarioOf, returningScenarioOf, type Scenario, scenarioOf } from './scenario.ts';
import { type Played, simulate } from './simulate.ts';
import { gapsIn } from './whole.ts';

export function problemsOf({ client, rig, left }: Played, { sampleRate, chain, chunks }: Scenario): string[] {
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

/** Tests in one file run one after the other: the seeds are dealt to them in blocks, so that a failure is found soon. */
const BLOCK = 200;

/** The seeds from one to another, for a table of tests. */
export const blocksOf = (first: number, last: number): { from: number; to: number }[] =>
  Array.from({ length: Math.ceil((last - first + 1) / BLOCK) }, (_, index) => ({
    from: first + index * BLOCK,
    to: Math.min(last, first + (index + 1) * BLOCK - 1),
  }));

/** Seeds that `npm test` plays; those behind them are of the slow tier. */
export const QUICK_SEEDS = 40;

/** Seeds in which something was lost once: the first part of a last turn of some milliseconds, taken for the end of the turn before. */
export const REMEMBERED_SEEDS = [5571, 6260, 8319, 8696, 9267];

/** Plays the seeds of a block, and names the one that fails. */
export async function checkSeeds({ from, to }: { from: number; to: number }): Promise<void> {
  for (let seed = from; seed <= to; seed++) await check(scenarioOf(seed));
}

/** The same of sessions that return to their first model. */
export async function checkReturns({ from, to }: { from: number; to: number }): Promise<void> {
  let returns = 0;
  for (let seed = from; seed <= to; seed++) {
    const { client } = await check(returningScenarioOf(seed));
    returns += client.of('failover').filter(({ reason }) => reason === 'returned').length;
  }
  expect(returns).toBeGreaterThan((to - from) / 10);
}

/** The same of sessions that reach a ceiling on spend: what the dear models cost is within it. */
export async function checkCeilings({ from, to }: { from: number; to: number }): Promise<void> {
  let moves = 0;
  for (let seed = from; seed <= to; seed++) {
    const scenario = boundedScenarioOf(seed);
    const { client, money } = await check(scenario);
    const cheap = scenario.chain.at(-1)?.slug ?? '';
    const spent = Object.entries(money?.spent() ?? {}).reduce(
      (sum, [model, microUsd]) => (model === cheap ? sum : sum + microUsd),
      0n,
    );
    expect(spent, `SIMULATION_SEED=${seed}`).toBeLessThanOrEqual(microUsdOf(scenario.ceiling?.usd ?? '0'));
    expect([money?.held(), money?.audit().faults], `SIMULATION_SEED=${seed}`).toEqual([0n, []]);
    moves += client.of('failover').filter(({ reason }) => reason === 'spend_ceiling').length;
  }
  expect(moves).toBeGreaterThan((to - from) / 10);
}

async function check(scenario: Scenario): Promise<Played> {
  const played = await simulate(scenario);
  const problems = problemsOf(played, scenario);
  expect(
    problems,
    `SIMULATION_SEED=${scenario.seed}: ${JSON.stringify({ ...scenario, chunks: scenario.chunks.length })}`,
  ).toEqual([]);
  expectInOrder(played.client);
  return played;
}
