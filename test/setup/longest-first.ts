// On a fresh clone nobody knows yet how long a file takes, and the largest would run first. A file of a minute or more that begins
// last is waited for by all others, so those go first. Once a run has measured them, vitest orders by that.
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Of the slow tier: real processes that are killed, cut off and waited for. */
const LONG = [
  'test/cli/slow/workers.test.ts',
  'test/cluster/slow/bus-faults.test.ts',
  'test/cluster/slow/start-faults.test.ts',
  'test/cluster/slow/nats/far-legs.test.ts',
  'test/cli/slow/serve-faults.test.ts',
  'test/live/slow/large-frames.test.ts',
  'test/cli/slow/cluster.test.ts',
  'test/cli/slow/serve-ends.test.ts',
  'test/cluster/slow/versions.test.ts',
  'test/failover/slow/talk-kills.test.ts',
  'test/failover/slow/cut-points.test.ts',
  'test/cluster/slow/ledger-identity.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.includes(relative(this.ctx.config.root, moduleId));
    const begin = sorted.findIndex(({ project }) => project.name === 'slow');
    if (begin === -1) return sorted;
    // The slow tier comes behind the default one.
    const slow = sorted.slice(begin);
    return [...sorted.slice(0, begin), ...slow.filter(isLong), ...slow.filter((file) => !isLong(file))];
  }
}
