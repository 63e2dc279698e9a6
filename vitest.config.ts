import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { LongestFirst } from './test/setup/longest-first.ts';

/** Clients of other vendors and speech models, with packages of their own in test/sdk. */
const SDK = ['test/sdk/**/*.test.ts'];

/** The slow tier can be seen in a path: these rooms as a whole, and the folders `slow/` of the others. `npm test` leaves it out. */
const SLOW = ['test/{attack,deploy}/**/*.test.ts', 'test/**/slow/**/*.test.ts'];

/**
 * Files that change their process for good have one of their own; the other files share a few, which saves
 * the start of a process and the loading of the product for each. Beside each: what it would leave to the next.
 */
const ALONE = [
  // An action of a chart that throws: XState takes what comes after it for a part of it.
  'test/live/session/faults.test.ts',
  // They look at the heap.
  'test/gateway/cost.test.ts',
  'test/live/session/audio/cost.test.ts',
  'test/live/session/turns/cost.test.ts',
];

/** The same of the slow tier, where most of what is changed for good is a process that the file starts. */
const SLOW_ALONE = [
  // They look at the memory of the process.
  'test/attack/file-length-fuzz.test.ts',
  'test/gateway/files/slow/backpressure.test.ts',
  'test/gateway/files/slow/generated.test.ts',
  'test/live/session/slow/heap.test.ts',
  // A replaced module of Node.
  'test/recogniser/slow/pool.test.ts',
  // Its events have members that a later version adds.
  'test/cluster/slow/versions.test.ts',
  // It kills NATS twenty times within its two minutes, and had not ended beside the modules of others.
  'test/cluster/slow/nats/usage-money.test.ts',
  // It looks at what is loaded.
  'test/runtime/telemetry/slow/tracing-off.test.ts',
];

const slow: TestProjectInlineConfiguration['test'] = { maxWorkers: 5, sequence: { groupOrder: 1 } };

const common: TestProjectInlineConfiguration['test'] = {
  // uWebSockets.js aborts the process when a worker thread ends with an open listen socket; forks are safe.
  pool: 'forks',
  // Thousands of simulated sessions make much that is short-lived; with Node's 16 MB much of it is copied before it is gone.
  execArgv: ['--max-semi-space-size=64'],
  setupFiles: ['test/setup/own-modules.ts', 'test/setup/documented.ts'],
  // Whoever waits for what never comes; the machine may be busy with something else as well.
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  test: {
    // One more than the build has cores: many files wait for speech, sockets and processes.
    maxWorkers: 3,
    reporters: ['default', './test/setup/slowest-files.ts'],
    // What was transformed once is kept for the next run: the tiers share nearly all of it.
    experimental: { fsModuleCache: true },
    globalSetup: ['test/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    // Without a project named, as with `npx vitest run test/cluster/bus`, files of both tiers run.
    projects: [
      {
        test: {
          ...common,
          name: 'default',
          include: ['test/**/*.test.ts'],
          exclude: [...SDK, ...SLOW, ...ALONE],
          isolate: false,
        },
      },
      { test: { ...common, name: 'alone', include: ALONE } },
      // It waits for speech, deadlines and processes more than it computes.
      { test: { ...common, ...slow, name: 'slow', include: SLOW, exclude: SLOW_ALONE, isolate: false } },
      { test: { ...common, ...slow, name: 'slow-alone', include: SLOW_ALONE } },
      { test: { ...common, ...slow, name: 'sdk', include: SDK, isolate: false } },
    ],
  },
});
