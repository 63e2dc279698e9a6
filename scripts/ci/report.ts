// What vitest's JSON report of one step says of its files: which failed, and of which tests.
import { existsSync, readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';

/** The part of the report that is read. */
interface Report {
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[];
}

export interface FileReport {
  /** From the root of the project, or of the copy that another Node version runs. */
  path: string;
  passed: string[];
  /** What failed: tests, or the file as a whole. */
  failed: string[];
  skipped: number;
}

/** No file where there is no report: the step did not come so far. */
export function readReport(file: string): FileReport[] {
  if (!existsSync(file)) return [];
  const report: Report = JSON.parse(readFileSync(file, 'utf8'));
  return report.testResults.map(({ name, status, assertionResults: tests }) => {
    const path = projectPath(name);
    const named = (status: string) => tests.filter((test) => test.status === status).map((test) => test.fullName);
    const [passed, failed] = [named('passed'), named('failed')];
    const skipped = tests.length - passed.length - failed.length;
    if (status === 'failed' && failed.length === 0) failed.push(wholeFile(path));
    return { path, passed, failed, skipped };
  });
}

/** What went wrong beside all tests; where that is not known the step did not come so far. */
export function readUnhandled(file: string): string[] {
  if (!existsSync(file)) return ['it was cut short'];
  return readFileSync(file, 'utf8').split('\n').filter(Boolean);
}

/** How a file is named that failed without a failing test. */
export const wholeFile = (path: string): string => `${path} as a whole`;

function projectPath(path: string): string {
  const parts = relative('.', path).split(sep);
  return parts.slice(parts.lastIndexOf('test')).join('/');
}
