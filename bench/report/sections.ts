// What the report consists of: the benches, their tables, and the goals.
import type { Rows, Spread } from '../spread.ts';
import { withCapacity } from './capacity.ts';
import type { Goal } from './goals.ts';
import { mergedRuns, type PlainRows } from './merge.ts';
import type { Columns } from './page.ts';
import { atMost, plainAt, rowsAt, type Section, withRounds } from './section.ts';

/** With `direct`. */
const LIVE_TARGETS = 6;
const LIVE_START_SECONDS = 3;
const FILE_WAYS = 6;

const LIVE_TABLES: readonly Columns[] = [
  {
    core: 'core',
    core_vs_floor: '× floor',
    sessions_per_core: 'sessions a core, a fifth free',
    resident_mb: 'MB, whole process',
    grown_mb: 'MB since the start',
  },
  {
    answer_p50_ms: 'answer p50 ms',
    answer_p99_ms: 'answer p99 ms',
    answer_added_p50_ms: 'added p50',
    answer_added_p99_ms: 'added p99',
  },
  {
    audio_p50_ms: 'audio p50 ms',
    audio_p99_ms: 'audio p99 ms',
    audio_added_p50_ms: 'added p50',
    audio_added_p99_ms: 'added p99',
  },
  { load_core: 'load', provider_core: 'provider', others_core: 'other programs' },
];

const coreToFloor: Goal = { ...atMost('core', 'core_vs_floor', 1.4), shown: 'core' };
const beyondFloor: Goal = {
  ...atMost('answer p99, ms beyond the floor', 'answer_beyond_floor_p99_ms', 25),
  shown: 'answer_p99_ms',
};
const residentMb = atMost('MB, whole process', 'resident_mb', 220);

const live = (sessions: number, frameMs: number, goals: readonly Goal[]): Section => ({
  title: `Live: ${sessions.toLocaleString('en')} sessions, chunks of ${frameMs} ms`,
  bench: `live --sessions ${sessions} --frame-ms ${frameMs}`,
  lengthOf: (length) => ['--seconds', String(length.seconds), '--warm', String(length.warm), ...withRounds(length)],
  secondsOf: ({ rounds, seconds, warm }) => rounds * LIVE_TARGETS * (seconds + warm + LIVE_START_SECONDS),
  rowsOf: (runs) => withCapacity(rowsAt('targets')(runs), sessions),
  tables: LIVE_TABLES,
  goals,
  meaning:
    'Added delays are differences to `direct`, round by round. A difference below the spread of `direct` is noise.',
});

export const SECTIONS: readonly Section[] = [
  live(20, 20, [
    atMost('answer p50 ms', 'answer_p50_ms', 0.35),
    atMost('answer p99 ms', 'answer_p99_ms', 1.5),
    atMost('core', 'core', 0.06),
  ]),
  live(500, 20, [coreToFloor, atMost('answer p99 ms', 'answer_p99_ms', 15)]),
  live(1_000, 20, [coreToFloor, beyondFloor, residentMb]),
  live(1_000, 100, [coreToFloor, beyondFloor, residentMb]),
  {
    title: 'Opening sessions',
    bench: 'open',
    lengthOf: () => [],
    isRepeated: true,
    secondsOf: () => 80,
    rowsOf: (runs) =>
      mergedRuns(
        runs.map(({ even, burst }) => ({ 'at an even rate': even, 'all at once': burst }) as unknown as PlainRows),
      ),
    tables: [
      {
        ...{ served: 'served', told_off: 'asked to retry', lost: 'lost', started_p50_ms: 'p50 ms' },
        ...{ started_p99_ms: 'p99 ms', cpu_ms: 'CPU ms of one', resident_mb: 'MB, whole process' },
      },
    ],
    goals: [
      atMost('p99 ms at 200 a second', 'started_p99_ms', 20, 'at an even rate'),
      atMost('CPU ms of one at 200 a second', 'cpu_ms', 1, 'at an even rate'),
    ],
    meaning: 'An overloaded node asks clients to retry later. A client that does so loses nothing.',
  },
  {
    title: 'Failover',
    bench: 'failover',
    lengthOf: () => ['--stopped', '0'],
    isRepeated: true,
    secondsOf: () => 90,
    rowsOf: plainAt('first_audio_beyond_connect_ms'),
    tables: [{ p50: 'p50 ms', p99: 'p99 ms' }],
    goals: [atMost('200 sessions at once, p99 ms', 'p99', 300, 'together')],
    meaning:
      'From the loss of the provider until the next one receives the first audio, without the time to connect. Audio that a client sends meanwhile is kept and sent faster.',
  },
  {
    title: 'Files',
    bench: 'batch',
    lengthOf: (length) => ['--seconds', String(length.seconds), ...withRounds(length)],
    secondsOf: ({ rounds, seconds }) =>
      20 + FILE_WAYS * Math.min(15, 2 * seconds) + rounds * (FILE_WAYS * 1.4 * seconds + 15),
    rowsOf: ([figures = {}]) => {
      const named = Object.entries((figures.uploads ?? {}) as Rows).map(([name, row]) => [`upload, ${name}`, row]);
      return { ...(figures.requests as Rows), ...(Object.fromEntries(named) as Rows) };
    },
    tables: [
      {
        per_second: 'a second',
        per_second_vs_portkey: '× Portkey',
        per_second_vs_litellm: '× LiteLLM',
        cpu_ms: 'CPU ms of one',
        resident_mb: 'MB, whole process',
        load_core: 'load',
        provider_core: 'provider',
        others_core: 'other programs',
      },
      { p50_ms: 'p50 ms', p99_ms: 'p99 ms', added_p50_ms: 'added p50', added_p99_ms: 'added p99' },
      { upload_ms: 'ms', upload_vs_direct: '× direct', growth_mib: 'MiB more in the gateway' },
    ],
    goals: ['gateway', 'prepaid']
      .flatMap((row): Goal[] => [
        { what: `${row}: requests, × Portkey`, row, column: 'per_second_vs_portkey', bound: { atLeast: 5 } },
        atMost(`${row}: CPU ms of one`, 'cpu_ms', 0.35, row),
        atMost(`${row}: added p50 ms`, 'added_p50_ms', 0.8, row),
        atMost(`${row}: added p99 ms`, 'added_p99_ms', 3, row),
      ])
      .concat(
        ['straight', 'kept'].map((way) =>
          atMost(`upload, ${way}: × direct`, 'upload_vs_direct', 1.08, `upload, ${way}`),
        ),
      ),
    meaning:
      'Files of 16 kB: as many requests as one core serves, then 50 a second for the percentiles. `prepaid`: with limited credit, which is held before the request to the provider. Uploads: four files of 100 MB at once; `kept` files go through the gateway’s disk, because a fallback may need them again.',
  },
  {
    title: 'Legs on other nodes',
    bench: 'bus',
    lengthOf: withRounds,
    secondsOf: ({ rounds }) => 10 + rounds * 30,
    rowsOf: ([figures = {}]) => {
      const {
        far_vs_near_cpu: median,
        far_vs_near_cpu_spread: [min, max],
      } = figures.ratios as {
        far_vs_near_cpu: number;
        far_vs_near_cpu_spread: [number, number];
      };
      return { 'CPU of both nodes, far : near': { ratio: { median, min, max } } };
    },
    tables: [{ ratio: 'ratio' }],
    goals: [atMost('CPU, far : near', 'ratio', 2, 'CPU of both nodes, far : near')],
    meaning:
      'Use this ratio to size nodes that hold sessions and nodes that hold connections. A session’s connection stays on its own node if possible.',
  },
  {
    title: 'Ledger',
    bench: 'ledger',
    lengthOf: () => [],
    isRepeated: true,
    secondsOf: () => 20,
    rowsOf: (runs) => mergedRuns(runs.map((figures) => ({ ledger: figures }))),
    tables: [
      {
        settled_per_second: 'settled a second, 100 in flight',
        settled_per_second_1000: '1,000 in flight',
        settled_per_second_renewed: 'with renewals',
        audit_ms: 'audit ms',
      },
    ],
    goals: [
      {
        what: 'settlements a second',
        row: 'ledger',
        column: 'settled_per_second',
        bound: { atLeast: 8_000 },
      },
    ],
    meaning: 'Holds, charges and settlements of one node, each in a transaction that is on disk before the answer.',
  },
  {
    title: 'Accounts on three nodes',
    bench: 'replicas',
    lengthOf: withRounds,
    secondsOf: ({ rounds }) => 30 + rounds * 35,
    rowsOf: ([figures = {}]) =>
      Object.fromEntries(
        (figures.figures as readonly Replicas[]).map((of) => [
          of.place,
          {
            settled_100: of.settled_per_second['100'],
            settled_1000: of.settled_per_second['1000'],
            hold_p50_ms: of.hold_p50_ms,
            hold_p99_ms: of.hold_p99_ms,
            ...of.cpu_ms_per_session,
          },
        ]),
      ),
    tables: [
      {
        ...{ settled_100: '100 in flight', settled_1000: '1,000 in flight' },
        ...{ hold_p50_ms: 'hold p50 ms', hold_p99_ms: 'hold p99 ms' },
        ...{ owner: 'owner', followers: 'followers', 'nats-servers': 'NATS' },
      },
    ],
    goals: [],
    meaning:
      'Sessions that are opened and settled each second: two writes each. Owner, two followers and three nats-servers share the two cores of one machine, so it is their work together that is the limit. The last columns are ms of a core for each session, of both followers and of all three servers. Holds are measured at 100 sessions a second.',
  },
  {
    title: 'Memory',
    bench: 'memory',
    lengthOf: ({ seconds }) => ['--seconds', String(seconds)],
    isRepeated: true,
    secondsOf: ({ seconds }) => 200 + 2 * seconds,
    rowsOf: plainAt('rows'),
    tables: [
      {
        ...{ sessions: 'sessions', start_mb: 'MB before', during_mb: 'MB with them', after_mb: 'MB 30 s after' },
        ...{ after_vs_start: '× before', kb_each: 'kB each', mb_for_10000: 'MB with 10,000' },
      },
    ],
    goals: [
      atMost('after the first 1,000 sessions, × before', 'after_vs_start', 1.1, 'first 1000 sessions'),
      atMost('MB with 10,000 idle sessions', 'mb_for_10000', 600, 'idle sessions'),
    ],
    meaning:
      'Resident memory of the whole process. Idle sessions send 20 ms of audio and then nothing. Each has a socket to its client and one to its provider, so a limit for open files below 20,500 means fewer of them; the figure for 10,000 is then calculated.',
  },
  {
    title: 'Worker processes',
    bench: 'workers 100',
    lengthOf: ({ seconds }) => [String(2 * seconds)],
    isRepeated: true,
    secondsOf: ({ seconds }) => 60 + 6 * seconds,
    rowsOf: (runs) => mergedRuns(runs.map(({ rows }) => workerRows(rows as readonly Workers[]))),
    tables: [
      { millicores: 'thousandths of a core for a session', against_one: '× one process', p99_ms: 'final p99 ms' },
    ],
    goals: [atMost('CPU of a session with four processes, × one', 'against_one', 1.1, '4 processes')],
    meaning:
      '100 sessions for each process, with chunks of 20 ms. All processes of the gateway count: workers, their parent, and the NATS between them. They share the cores with the clients.',
  },
  {
    title: 'Dictation',
    bench: 'real-time',
    lengthOf: withRounds,
    secondsOf: ({ rounds }) => 5 + 2 * rounds,
    rowsOf: ([figures = {}]) => ({ 'local/dictation-en': { real_time_factor: figures.real_time_factor as Spread } }),
    tables: [{ real_time_factor: 'real-time factor' }],
    goals: [atMost('real-time factor', 'real_time_factor', 0.1, 'local/dictation-en')],
    meaning: 'The time that one core takes for a recording, as a part of its length.',
  },
  {
    title: 'A second of audio, by processing step',
    bench: 'audio',
    lengthOf: () => [],
    isRepeated: true,
    secondsOf: () => 10,
    rowsOf: (runs) =>
      mergedRuns(
        runs.map(({ paths }) => Object.fromEntries((paths as { path: string }[]).map((row) => [row.path, { ...row }]))),
      ),
    tables: [{ cpu_us_per_second: 'CPU µs', allocated_bytes_per_frame: 'bytes of the heap a frame' }],
    goals: [],
    meaning: 'Without sockets. The rest of a session’s CPU time is spent in the kernel and on the provider’s answers.',
  },
];

interface Replicas extends Readonly<Record<'hold_p50_ms' | 'hold_p99_ms', Spread>> {
  place: string;
  settled_per_second: Readonly<Record<'100' | '1000', Spread>>;
  cpu_ms_per_session: Readonly<Record<string, Spread>>;
}

interface Workers {
  processes: number;
  millicores_per_session: { all: number };
  against_one: number;
  final_delay_ms: { p99: number };
}

function workerRows(rows: readonly Workers[]): PlainRows {
  return Object.fromEntries(
    rows.map((row) => [
      row.processes === 1 ? '1 process' : `${row.processes} processes`,
      {
        millicores: row.millicores_per_session.all,
        against_one: row.against_one,
        p99_ms: row.final_delay_ms.p99,
      },
    ]),
  );
}
