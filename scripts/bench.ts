// Runs one of the benches: `npm run bench -- <name> [arguments of that bench]`.
const benches: Readonly<Record<string, () => Promise<unknown>>> = {
  live: () => import('../test/bench/live.ts'),
  open: () => import('../test/bench/open.ts'),
  failover: () => import('../test/bench/failover.ts'),
  ledger: () => import('../test/bench/ledger.ts'),
  batch: () => import('../test/bench/batch.ts'),
  lock: () => import('../test/bench/lock.ts'),
  bus: () => import('../test/bench/bus.ts'),
  audio: () => import('../test/bench/audio.ts'),
  workers: () => import('../test/bench/workers.ts'),
  watch: () => import('../test/bench/watch.ts'),
  report: () => import('../test/bench/report.ts'),
  recogniser: () => import('../test/bench/recogniser.ts'),
};

// What is left of the arguments is the bench's own.
const [name = ''] = process.argv.splice(2, 1);
const bench = benches[name];
if (bench === undefined) {
  console.error(`There is no bench "${name}"; there are: ${Object.keys(benches).join(', ')}.`);
  process.exitCode = 64;
} else {
  await bench();
}
