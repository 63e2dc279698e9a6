// Adds up the test reports of a run. Arguments: the folder of the reports, then the names of the steps that failed.
// A file or step that failed without a failing test counts as one, so that "0 failed" is said of a good run only. A test that
// failed beside others and passed alone, in the step that is named `<step>-again`, is unsteady: told of, and few are allowed.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readReport, readUnhandled, wholeFile } from './report.ts';

const AGAIN = '-again';
const UNSTEADY_MAX = 5;

const [folder = '.', ...failedSteps] = process.argv.slice(2);
const count = { passed: 0, failed: 0, unsteady: 0, skipped: 0 };
const explained = new Set<string>();
const reportOf = (step: string) => readReport(join(folder, `${step}.json`));
const steps = readdirSync(folder).flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : []));

for (const step of steps.filter((name) => !name.endsWith(AGAIN))) {
  const again = reportOf(step + AGAIN);
  const passedAlone = new Set(again.flatMap(({ passed }) => passed));
  for (const { path, failed } of again) if (failed.length === 0) passedAlone.add(wholeFile(path));
  for (const { passed, failed, skipped } of reportOf(step)) {
    count.passed += passed.length;
    count.skipped += skipped;
    for (const what of failed) tell(step, what, passedAlone.has(what));
  }
  // It may be the reason why the step failed: no test that passed alone explains it.
  for (const what of readUnhandled(join(folder, `${step}.unhandled`))) tell(step, what, false);
}
for (const step of failedSteps.filter((name) => name !== '' && !explained.has(name))) {
  console.log(`failed: ${step}`);
  count.failed += 1;
}
if (count.skipped > 0) console.log(`${count.skipped} skipped`);
if (count.unsteady > 0) console.log(`${count.unsteady} unsteady: ${UNSTEADY_MAX} at most are allowed`);
if (count.unsteady > UNSTEADY_MAX) count.failed += count.unsteady;
console.log(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed > 0 ? 1 : 0;

function tell(step: string, what: string, hasPassedAlone: boolean): void {
  explained.add(step);
  if (hasPassedAlone) {
    count.unsteady += 1;
    console.log(`unsteady on ${step}, passed alone: ${what}`);
    return;
  }
  count.failed += 1;
  explained.add(step + AGAIN);
  console.log(`failed on ${step}: ${what}`);
}
