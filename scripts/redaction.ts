// Prints how well the gateway redacts its two corpora: `npm run redaction`, with `-- --faults` each text that it gets wrong.
import { corpus } from './redaction/corpus.ts';
import { BEFORE_MENDING, heldOut } from './redaction/held-out.ts';
import { type Score, scoresOf } from './redaction/score.ts';

function print(
  title: string,
  samples: Parameters<typeof scoresOf>[0],
  more: (score: Score) => string = () => '',
): void {
  const scores = scoresOf(samples);
  const near = samples.filter(({ spans }) => spans.length === 0).length;
  console.log(`${title}: ${samples.length} utterances, of which ${near} have nothing to redact.\n`);
  console.log('class            expected  found  wrong  recall  precision');
  for (const score of scores) {
    const { class: kind, expected, found, wrong, recall, precision } = score;
    const columns = [expected, found, wrong].map((count, index) => String(count).padStart([8, 7, 7][index] as number));
    console.log(
      `${kind.padEnd(17)}${columns.join('')}  ${recall.toFixed(4)}     ${precision.toFixed(4)}${more(score)}`,
    );
  }
  if (process.argv.includes('--faults'))
    for (const { faults } of scores) for (const fault of faults) console.log(fault);
  console.log();
}

print('Written with the engine', corpus());
print('Held out', heldOut(), ({ class: kind }) => {
  const [found, expected] = BEFORE_MENDING[kind] ?? [0, 1];
  return `   (recall before anything was mended: ${(found / expected).toFixed(4)})`;
});
