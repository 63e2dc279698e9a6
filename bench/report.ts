// `npm run bench -- report [--only 'live --sessions 500'] [--rounds 3]`: runs the benches one after the other and writes docs/performance.md. Takes about
// an hour; the machine should do nothing else.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../', import.meta.url));
const page = `${root}docs/performance.md`;
/** What a bench printed is kept between two runs, so that one of them can be run again. */
const kept = `${root}.cache/bench/report.json`;

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: { only: { type: 'string', default: '' }, rounds: { type: 'string', default: '3' } },
});

type Figures = Readonly<Record<string, unknown>>;
type Row = readonly unknown[];

/** A figure by the names on the way to it. */
const at = (figures: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Figures | undefined)?.[name], figures);

const entriesAt = (figures: unknown, path: string): [string, unknown][] => Object.entries(at(figures, path) ?? {});

interface Section {
  title: string;
  args: readonly string[];
  head: Row;
  rows(figures: Figures): readonly Row[];
  /** What the figures mean for whoever runs it. */
  meaning: string | ((figures: Figures) => string);
}

const COLUMNS = [
  'core',
  'added p50 ms',
  'added p99 ms',
  'audio p50 ms',
  'audio p99 ms',
  'MB',
  'load core',
  'upstream core',
];

const live = (sessions: number, frameMs: number, meaning: Section['meaning']): Section => ({
  title: `Live: ${sessions.toLocaleString('en')} sessions, chunks of ${frameMs} ms`,
  args: ['live', '--sessions', String(sessions), '--frame-ms', String(frameMs), '--rounds', options.rounds],
  head: ['', 'core', 'answer p50 ms', 'answer p99 ms', 'audio p50 ms', 'audio p99 ms', 'MB', 'load', 'provider'],
  rows: (figures) =>
    entriesAt(figures, 'targets').map(([name, of]) => [name, ...COLUMNS.map((column) => at(of, column))]),
  meaning,
});

const perCore = (figures: Figures): string => {
  const share = Number.parseFloat(String(at(figures, 'targets.gateway.core')));
  const sessions = Math.floor((0.8 * Number(figures.sessions)) / share / 50) * 50;
  return `At this load one core carries about ${sessions} such sessions, with a fifth of it free.`;
};

const SECTIONS: readonly Section[] = [
  live(20, 20, 'The overhead of the gateway at low load.'),
  live(500, 20, perCore),
  live(1_000, 20, perCore),
  live(1_000, 100, perCore),
  {
    title: 'Opening sessions',
    args: ['open'],
    head: ['', 'served', 'asked to retry', 'lost', 'p50 ms', 'p99 ms', 'CPU ms of one'],
    rows: (figures) =>
      [
        ['at an even rate', 'even'],
        ['all at once', 'burst'],
      ].map(([name, which]) => [
        name,
        ...['served', 'told_off', 'lost', 'started_p50_ms', 'started_p99_ms', 'cpu_ms'].map((of) =>
          at(figures, `${which}.${of}`),
        ),
      ]),
    meaning: 'An overloaded node asks clients to retry later. A client that does so loses nothing.',
  },
  {
    title: 'Failover',
    args: ['failover'],
    head: ['', 'p50 ms', 'p99 ms'],
    rows: (figures) =>
      entriesAt(figures, 'first_audio_beyond_connect_ms').map(([name, of]) => [name, at(of, 'p50'), at(of, 'p99')]),
    meaning:
      'From the loss of the provider until the next one receives the first audio, without the time to connect. Audio that a client sends meanwhile is kept and sent faster.',
  },
  {
    title: 'Files',
    args: ['batch', options.rounds],
    head: ['', 'median'],
    rows: (figures) => [
      ...entriesAt(figures, 'ratios'),
      ['added ms, p50', at(figures, 'added_ms.p50')],
      ['added ms, p99', at(figures, 'added_ms.p99')],
    ],
    meaning: 'Portkey is `@portkey-ai/gateway`, in the same run. Uploads are ratios to the time without a gateway.',
  },
  {
    title: 'Legs on other nodes',
    args: ['bus', '--rounds', options.rounds],
    head: ['', 'figure'],
    rows: (figures) => [
      ['CPU of both nodes, far : near', at(figures, 'ratios.far_vs_near_cpu')],
      ['lowest and highest', at(figures, 'ratios.far_vs_near_cpu_spread')],
      ['with nats-server', at(figures, 'ratios.far_with_nats_server_vs_near_cpu')],
      ['finals near', at(figures, 'near.finals')],
      ['finals far', at(figures, 'far.finals')],
    ],
    meaning:
      'Use this ratio to size nodes that hold sessions and nodes that hold connections. A session’s connection stays on its own node if possible.',
  },
  {
    title: 'Ledger',
    args: ['ledger'],
    head: ['', 'a second'],
    rows: (figures) => Object.entries(figures).filter(([, value]) => typeof value === 'number'),
    meaning: 'Holds, charges and settlements of one node, each in a transaction that is on disk before the answer.',
  },
  {
    title: 'Accounts on three nodes',
    args: ['replicas', '--rounds', options.rounds],
    head: ['', '100 in flight', '1,000 in flight', 'hold p50 ms', 'hold p99 ms', 'owner', 'followers', 'NATS'],
    rows: (figures) =>
      (figures.figures as readonly Figures[]).map((of) => [
        of.place,
        ...['settled_per_second.100', 'settled_per_second.1000', 'hold_p50_ms', 'hold_p99_ms'].map((path) =>
          at(of, `${path}.median`),
        ),
        ...['owner', 'followers', 'nats-servers'].map((who) => at(of, `cpu_ms_per_session.${who}.median`) ?? '–'),
      ]),
    meaning:
      'Sessions that are opened and settled each second: two writes each. Owner, two followers and three nats-servers share the two cores of one machine, so it is their work together that is the limit. The last columns are ms of a core for each session, of both followers and of all three servers. Holds are measured at 100 sessions a second.',
  },
  {
    title: 'A second of audio, by processing step',
    args: ['audio'],
    head: ['', 'CPU µs', 'bytes of the heap a frame'],
    rows: (figures) =>
      entriesAt(figures, 'paths').map(([, of]) =>
        ['path', 'cpu_us_per_second', 'allocated_bytes_per_frame'].map((column) => at(of, column)),
      ),
    meaning: 'Without sockets. The rest of a session’s CPU time is spent in the kernel and on the provider’s answers.',
  },
];

interface Kept {
  at: string;
  machine: string;
  figures: Figures;
}

/** The last line that the bench printed. */
async function figuresOf(args: readonly string[]): Promise<Figures> {
  const command = ['--import', 'tsx', `${root}scripts/bench.ts`, ...args, '--json'];
  const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('{')) last = line;
  if (last === '') throw new Error(`bench ${args.join(' ')} printed no figures.`);
  return JSON.parse(last) as Figures;
}

function pageOf(): string {
  const parts = SECTIONS.flatMap((section) => {
    const result = results[section.args.join(' ')];
    if (result === undefined) return [];
    const { figures, at, machine: of } = result;
    const { meaning } = section;
    return [
      [
        `## ${section.title}`,
        table([section.head, ...section.rows(figures)]),
        typeof meaning === 'string' ? meaning : meaning(figures),
        `\`npm run bench -- ${section.args.join(' ')}\`, ${at}, ${of}.`,
      ].join('\n\n'),
    ];
  });
  return `${[INTRODUCTION, ...parts].join('\n\n')}\n`;
}

const INTRODUCTION = `# Performance

\`npm run bench -- report\` writes this page. Each section compares the gateway with alternatives, measured in turn in the same run on the
same machine. Ratios say more than times, which differ between machines. A figure is the median of its rounds, with the lowest and the
highest in brackets.

The measured process has its own core. The clients and the provider share another one (columns “load” and “provider”: shares of that
core). They are written in C where they could become the bottleneck. Clients send in real time, each in its own phase. The measurement
starts after a warm-up. The provider answers in Deepgram’s format, with an interim every second and a final every third second.

- \`direct\`: the clients connect to the provider directly. All delays are measured in addition to it.
- \`gateway\`: a node with the adapter \`uws\`, with every promise and with billing. \`gateway-node\`: the same with the adapter \`node\`.
- \`handwritten\`: 25 lines of \`ws\` that forward every frame, one for one. \`floor\`: uWebSockets.js and \`ws\`, which only join frames to
  100 ms. \`nginx\`: a proxy in C that forwards bytes.
- “answer”: from the end of a second of audio until the client has its answer. “audio”: from sending a chunk until the provider has it,
  including the wait for more audio for the same frame ([delay or cost](guides/live.md)).`;

function table([head = [], ...rows]: readonly Row[]): string {
  const line = (cells: Row) => `| ${cells.map((cell) => cell ?? '').join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function machine(): string {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

const results: Record<string, Kept> = JSON.parse(readIfThere(kept) ?? '{}');
for (const section of SECTIONS) {
  const key = section.args.join(' ');
  if (!key.startsWith(options.only)) continue;
  console.log(`${section.title}: bench ${key}`);
  try {
    results[key] = {
      at: new Date().toISOString().slice(0, 10),
      machine: machine(),
      figures: await figuresOf(section.args),
    };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
  }
  writeFileSync(kept, JSON.stringify(results));
  writeFileSync(page, pageOf());
}
