// Adds up the test reports of a run. Arguments: the folder of the reports, then the names of the steps that failed.
// A file or step that failed without a failing test counts as one, so that "0 failed" is printed after a good run only. A test that
// failed in one of two runs, a step and the one that is named `<step>-again`, is unsteady: it is printed, and few are allowed.
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
  const passedFirst = new Set<string>();
  const failedFirst = new Set<string>();
  for (const { passed, failed, skipped } of reportOf(step)) {
    count.passed += passed.length;
    count.skipped += skipped;
    for (const what of passed) passedFirst.add(what);
    for (const what of failed) {
      failedFirst.add(what);
      print(step, what, passedAlone.has(what));
    }
  }
  const failedAlone = again.flatMap(({ failed }) => failed).filter((what) => !failedFirst.has(what));
  for (const what of failedAlone) print(step + AGAIN, what, passedFirst.has(what));
  // A step that was not run again has no such file.
  if (failedSteps.includes(step + AGAIN)) {
    for (const what of readUnhandled(join(folder, `${step}${AGAIN}.unhandled`))) print(step + AGAIN, what, false);
  }
  // It may be the reason why the step failed: no test that passed alone explains it.
  for (const what of readUnhandled(join(folder, `${step}.unhandled`))) print(step, what, false);
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

function print(step: string, what: string, hasPassedOnce: boolean): void {
  explained.add(step);
  if (hasPassedOnce) {
    count.unsteady += 1;
    console.log(`unsteady on ${step}, passed in another run: ${what}`);
    return;
  }
  count.failed += 1;
  explained.add(step + AGAIN);
  console.log(`failed on ${step}: ${what}`);
}
