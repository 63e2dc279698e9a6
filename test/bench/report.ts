// `npm run bench -- report [--only 'live --sessions 500'] [--rounds 3]`: runs the benches one after the other and writes docs/performance.md. Takes about
// an hour; the machine should do nothing else.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
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
  return `At this load one core carries about ${sessions} such sessions, a fifth of it kept free.`;
};

const SECTIONS: readonly Section[] = [
  live(20, 20, 'What the gateway adds where it has little to do.'),
  live(500, 20, perCore),
  live(1_000, 20, perCore),
  live(1_000, 100, perCore),
  {
    title: 'Opening sessions',
    args: ['open'],
    head: ['', 'served', 'told to come again', 'lost', 'p50 ms', 'p99 ms', 'CPU ms of one'],
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
    meaning: 'A node that is short of time tells clients when to come again; a client that does so loses nothing.',
  },
  {
    title: 'Failover',
    args: ['failover'],
    head: ['', 'p50 ms', 'p99 ms'],
    rows: (figures) =>
      entriesAt(figures, 'first_audio_beyond_connect_ms').map(([name, of]) => [name, at(of, 'p50'), at(of, 'p99')]),
    meaning:
      'From the loss of the provider until the next one has the first audio, without the time of its connection. Audio that a client sends meanwhile is kept and sent faster.',
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
    meaning:
      'Portkey is `@portkey-ai/gateway`, in the same run. Uploads are ratios to the time without anything in between.',
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
      'Plan for nodes that hold sessions and nodes that hold connections by this ratio; a session stays near where it can.',
  },
  {
    title: 'Ledger',
    args: ['ledger'],
    head: ['', 'a second'],
    rows: (figures) => Object.entries(figures).filter(([, value]) => typeof value === 'number'),
    meaning:
      'Holds, charges and settlements of one node, each in a transaction that is on the disk when it is answered.',
  },
  {
    title: 'A second of audio, by what is done with it',
    args: ['audio'],
    head: ['', 'CPU µs', 'bytes of the heap a frame'],
    rows: (figures) =>
      entriesAt(figures, 'paths').map(([, of]) =>
        ['path', 'cpu_us_per_second', 'allocated_bytes_per_frame'].map((column) => at(of, column)),
      ),
    meaning:
      'Without sockets: what is left of a session’s second is spent in the kernel, and on what its provider answers.',
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

Written by \`npm run bench -- report\`. Every figure comes with what it is compared with, measured in the same run, in turn, on the same
machine: ratios say more than times, which differ from machine to machine. A figure is the median of its rounds, with the lowest and the
highest in brackets.

What is measured has a core for itself; the clients and the provider have another one, and are written in C where they could become what
is measured (columns “load” and “provider”: shares of that core). Clients send in real time, each in its own phase; what is warm is
measured. The provider answers in Deepgram’s shape, with an interim each second and a final each third.

- \`direct\`: the clients speak to the provider, with nothing in between. All delays are what is added to it.
- \`gateway\`: a node with the door \`uws\`, every promise kept, money counted; \`gateway-node\`: the same with the door \`node\`.
- \`handwritten\`: 25 lines of \`ws\` that pass every frame on, one for one. \`floor\`: uWebSockets.js and \`ws\`, frames joined to 100 ms,
  nothing else done. \`nginx\`: bytes passed on by a proxy in C.
- “answer”: from the end of a second of audio until its answer is at the client. “audio”: from a chunk’s sending until the provider has it;
  what waits for more audio, to travel in one frame, is in it ([delay or cost](guides/live.md)).`;

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
