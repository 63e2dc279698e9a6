// Runs one of the benches: `npm run bench -- <name> [arguments of that bench]`.
const benches: Readonly<Record<string, () => Promise<unknown>>> = {
  live: () => import('../bench/live.ts'),
  open: () => import('../bench/open.ts'),
  failover: () => import('../bench/failover.ts'),
  ledger: () => import('../bench/ledger.ts'),
  replicas: () => import('../bench/replicas.ts'),
  join: () => import('../bench/join.ts'),
  batch: () => import('../bench/batch.ts'),
  lock: () => import('../bench/lock.ts'),
  bus: () => import('../bench/bus.ts'),
  audio: () => import('../bench/audio.ts'),
  workers: () => import('../bench/workers.ts'),
  memory: () => import('../bench/memory.ts'),
  watch: () => import('../bench/watch.ts'),
  report: () => import('../bench/report.ts'),
  recogniser: () => import('../bench/recogniser.ts'),
  'real-time': () => import('../bench/real-time.ts'),
  voice: () => import('../bench/voice.ts'),
  'speech-gate': () => import('../bench/speech-gate.ts'),
};

// Ends with an `exit` event, on which benches end their processes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

// What is left of the arguments is the bench's own.
const [name = ''] = process.argv.splice(2, 1);
const bench = benches[name];
if (bench === undefined) {
  console.error(`There is no bench "${name}"; there are: ${Object.keys(benches).join(', ')}.`);
  process.exitCode = 64;
} else {
  await bench();
}
