// Runs once before the suite: brings dist/ up to date, because worker threads and the command are run from there.
// Costs a second after a change and a few milliseconds otherwise.
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { ensureBuilt } from '../bin/build.js';

export async function setup(project: TestProject): Promise<void> {
  const build = async () => {
    await ensureBuilt(join(import.meta.dirname, '..'));
  };
  await build();
  project.onTestsRerun(build);
}
