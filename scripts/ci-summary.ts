// Adds up the test reports of a run. Arguments: the folder of the reports, then the names of the steps that failed.
// A file or step that failed without a failing test counts as one, so that "0 failed" is said of a good run only.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** The part of vitest's JSON report that is read here. */
interface Report {
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[];
}

const [folder = '.', ...failedSteps] = process.argv.slice(2);
const count = { passed: 0, failed: 0, skipped: 0 };
const explained = new Set<string>();

for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  const step = file.slice(0, -'.json'.length);
  const report: Report = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  for (const { name, status, assertionResults: tests } of report.testResults) {
    const failed = tests.filter((test) => test.status === 'failed').map((test) => test.fullName);
    const passed = tests.filter((test) => test.status === 'passed').length;
    if (status === 'failed' && failed.length === 0) failed.push(`${relative('.', name)} as a whole`);
    for (const what of failed) console.log(`failed on ${step}: ${what}`);
    if (failed.length > 0) explained.add(step);
    count.passed += passed;
    count.failed += failed.length;
    count.skipped += tests.length - passed - tests.filter((test) => test.status === 'failed').length;
  }
}
for (const step of failedSteps.filter((name) => name !== '' && !explained.has(name))) {
  console.log(`failed: ${step}`);
  count.failed += 1;
}
if (count.skipped > 0) console.log(`${count.skipped} skipped`);
console.log(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed > 0 ? 1 : 0;
