// On a fresh clone nobody knows yet how long a file takes, and the largest would run first. A file of a minute or more that begins
// last is waited for by all others, so those go first. Once a run has measured them, vitest orders by that.
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Real processes that are killed, cut off and waited for; vendors' clients with every model; in the default tier those that draw most. */
const LONG = [
  'test/attack/cluster-placement.test.ts',
  'test/attack/file-length-fuzz.test.ts',
  'test/attack/file-length-queue.test.ts',
  'test/attack/flood-sockets.test.ts',
  'test/attack/live-kills.test.ts',
  'test/built/slow/console-and-commands.test.ts',
  'test/built/slow/unbroken-speech.test.ts',
  'test/cli/slow/bad-configurations.test.ts',
  'test/cli/slow/serve-ends.test.ts',
  'test/cli/slow/serve-faults.test.ts',
  'test/cli/slow/workers.test.ts',
  'test/cli/transcribe.test.ts',
  'test/cluster/bus/slow/nats-cluster.test.ts',
  'test/cluster/slow/bus-faults.test.ts',
  'test/cluster/slow/jobs.test.ts',
  'test/cluster/slow/ledger-identity.test.ts',
  'test/cluster/slow/nats/far-legs.test.ts',
  'test/cluster/slow/nats/outage-captions.test.ts',
  'test/cluster/slow/replica-faults.test.ts',
  'test/cluster/slow/start-faults.test.ts',
  'test/cluster/slow/versions.test.ts',
  'test/console/slow/pages.test.ts',
  'test/console/slow/walk.test.ts',
  'test/gateway/files/faults.test.ts',
  'test/gateway/files/slow/generated.test.ts',
  'test/gateway/slow/large-frames.test.ts',
  'test/http/adapters/node.test.ts',
  'test/http/adapters/slow/silent-bodies.test.ts',
  'test/jobs/slow/cancel-races.test.ts',
  'test/live/failover/slow/disturbed-finals.test.ts',
  'test/live/failover/slow/planned-recycling.test.ts',
  'test/live/failover/slow/unbroken-speech.test.ts',
  'test/live/session/audio/numbered-audio.test.ts',
  'test/live/session/turns/end-handshake.test.ts',
  'test/live/session/turns/turns.test.ts',
  'test/money/store/model.test.ts',
  'test/node/store/damaged.test.ts',
  'test/recogniser/slow/dictation.test.ts',
  'test/recogniser/stream.test.ts',
  'test/sdk/compat/matrix-files.test.ts',
  'test/sdk/compat/matrix.test.ts',
  'test/sdk/compat/python-matrix.test.ts',
  'test/sdk/recognisers/recognisers.test.ts',
  'test/simulation/slow/seeds.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // The slow tier comes behind the default one.
    const rank = ({ moduleId, project }: TestSpecification) =>
      (project.name.startsWith('slow') ? 2 : 0) + (LONG.includes(relative(this.ctx.config.root, moduleId)) ? 0 : 1);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
