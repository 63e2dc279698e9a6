// What is special of AssemblyAI: its models, and their list prices.
import { expect, it } from 'vitest';
import { microUsdOf } from '../../../src/config/prices/price.ts';
import { assemblyai } from '../../../src/vendors/assemblyai/index.ts';

const LIST: readonly [model: string, mode: 'live' | 'batch', dollarsAnHour: number][] = [
  ['universal-streaming-english', 'live', 0.15],
  ['universal-streaming-multilingual', 'live', 0.15],
  ['u3-rt-pro', 'live', 0.45],
  ['universal-3-5-pro', 'live', 0.45],
  ['universal-3-6-pro', 'live', 0.45],
  ['whisper-rt', 'live', 0.3],
  ['universal-3-5-pro', 'batch', 0.21],
  ['universal-2', 'batch', 0.15],
];

it('matches the list of models in each mode', () => {
  const inMode = (mode: 'live' | 'batch') => assemblyai.models.filter(({ modes }) => modes.includes(mode));
  for (const mode of ['live', 'batch'] as const) {
    const listed = LIST.filter((row) => row[1] === mode).map(([model]) => `assemblyai/${model}`);
    expect(inMode(mode).map(({ id }) => id)).toEqual(listed);
  }
});

it.each(LIST)('%s %s has its list price of %s USD an hour', (name, mode, dollars) => {
  const price = assemblyai.models.find(({ id }) => id === `assemblyai/${name}`)?.pricing[mode];
  expect([price?.unit, Number(microUsdOf(price?.amount ?? '0')) * 60]).toEqual(['minute', Math.round(dollars * 1e6)]);
});
