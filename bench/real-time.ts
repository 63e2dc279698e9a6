// `npm run bench -- real-time [--rounds 5] [--json]`: how long `local/dictation-en` takes for a recording that comes all at once, as a part
// of the recording's length. The bench `recogniser` measures what it understands.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../bin/build.js';
import { SAMPLE_RATE } from '../src/recogniser/protocol.ts';
import { Recogniser } from '../src/recogniser/recogniser.ts';
import { audioOf, Ear, finalsOf, queryFor } from '../test/recogniser/listening.ts';
import { spreadOf, textOf } from './spread.ts';

const RECORDING = {
  ...{ file: 'reading.wav', model: 'local/dictation-en', language: 'en', text: '', turns: [] },
  ...{ seconds: 0, sampleRate: SAMPLE_RATE },
};

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: { rounds: { type: 'string', default: '5' }, json: { type: 'boolean', default: false } },
});

await ensureBuilt(fileURLToPath(new URL('../', import.meta.url)));
const recogniser = new Recogniser({
  ...{ workers: 1, streamsMax: 1, queueBytesMax: 16 * 1024 ** 2, dictationStreamsMax: 1, dictationSlots: 1 },
});
const audio = audioOf(RECORDING);
const seconds = audio.byteLength / 2 / SAMPLE_RATE;
const factors: number[] = [];
// The first one loads the model.
await listen();
for (let round = 0; round < Number(options.rounds); round++) factors.push((await listen()) / 1_000 / seconds);
await recogniser.close();
const factor = spreadOf(factors);
if (!options.json) console.log(`${textOf(factor)} of the ${seconds.toFixed(1)} s that the recording lasts`);
console.log(JSON.stringify({ rounds: factors.length, seconds, real_time_factor: factor }));

async function listen(): Promise<number> {
  const sinceMs = performance.now();
  const messages = await new Ear(recogniser, queryFor(RECORDING.model)).listen(audio);
  if (finalsOf(messages).length === 0) throw new Error('The recogniser returned no words.');
  return performance.now() - sinceMs;
}
