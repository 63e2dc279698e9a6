// The seeds behind those that `npm test` plays. SIMULATION_SEEDS=<count>: up to that one.
import { test } from 'vitest';
import { blocksOf, checkCeilings, checkReturns, checkSeeds, QUICK_SEEDS } from '../check.ts';

const last = Number(process.env.SIMULATION_SEEDS ?? 1_400);
/** Each has a real ledger, and takes twice as long. */
const lastWithCeilings = Number(process.env.SIMULATION_SEEDS ?? 440);

test.each(blocksOf(QUICK_SEEDS + 1, last))(
  'seeds $from to $to: every sample once, in order, and nothing left',
  checkSeeds,
  240_000,
);

test.each(blocksOf(QUICK_SEEDS + 1, last))(
  'seeds $from to $to: the same with returns to the first model, which is lost again and again',
  checkReturns,
  240_000,
);

test.each(blocksOf(QUICK_SEEDS + 1, lastWithCeilings))(
  'seeds $from to $to: the same of sessions that reach a ceiling on spend, which leaves the last model',
  checkCeilings,
  240_000,
);
