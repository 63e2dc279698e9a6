// Prints how well the gateway redacts the corpus: `npm run redaction`, with `-- --faults` each text that it gets wrong.
import { corpus } from './redaction/corpus.ts';
import { scoresOf } from './redaction/score.ts';

const samples = corpus();
const scores = scoresOf(samples);
const near = samples.filter(({ about }) => about === undefined).length;
console.log(`${samples.length} utterances, of which ${near} have nothing to redact.\n`);
console.log('class            expected  found  wrong  recall  precision');
for (const { class: kind, expected, found, wrong, recall, precision } of scores) {
  const columns = [expected, found, wrong].map((count, index) => String(count).padStart([8, 7, 7][index] as number));
  console.log(`${kind.padEnd(17)}${columns.join('')}  ${recall.toFixed(4)}     ${precision.toFixed(4)}`);
}
if (process.argv.includes('--faults')) for (const { faults } of scores) for (const fault of faults) console.log(fault);
