// What vitest's JSON report leaves out: errors that belong to no test, and files whose runner ended without a result. Told to the
// file that CI_UNHANDLED names, a line each; an empty one says that there were none.
import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';

export default class UnhandledReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const file = process.env.CI_UNHANDLED;
    if (file === undefined) return;
    const unhandled = errors.map(({ message = 'an error' }) => message.split('\n', 1)[0]);
    const empty = modules.filter((module) => [...module.children.allTests()].length === 0);
    const names = empty.map(({ moduleId }) => `${moduleId} has no result`);
    writeFileSync(file, [...unhandled, ...names].map((line) => `${line}\n`).join(''));
  }
}
