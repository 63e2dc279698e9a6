// `npm run bench -- report [--only 'live --sessions 500'] [--rounds 5] [--seconds 10] [--warm 20] [--targets a,b] [--publish]`: runs the
// benches one after the other, and prints their figures with the goals and with what changed since the last report. With `--publish` it
// also writes docs/performance.md. It prints how long it takes, about; the machine should do nothing else meanwhile.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endWithBench, machineBusyMs } from './processes.ts';
import { differences } from './report/comparison.ts';
import { faultsOf, type Measurement, ROUNDS_MIN } from './report/fitness.ts';
import { GOAL_HEAD, judged } from './report/goals.ts';
import { markdownTable, pageWith, tableOf } from './report/page.ts';
import { estimatedSeconds, type Section } from './report/section.ts';
import { SECTIONS } from './report/sections.ts';
import { type Rows, spreadOf, textOf } from './spread.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const page = `${root}docs/performance.md`;
/** The figures of the page, for the next report to compare with. */
const published = `${root}docs/performance.json`;
/** The figures of every run. */
const kept = `${root}.cache/bench/report.json`;

const IDLE_MS = 1_000;
const IDLE_LOOKS = 5;

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: String(ROUNDS_MIN) },
    seconds: { type: 'string', default: '10' },
    warm: { type: 'string', default: '20' },
    targets: { type: 'string' },
    publish: { type: 'boolean', default: false },
  },
});
const length = { rounds: Number(options.rounds), seconds: Number(options.seconds), warm: Number(options.warm) };

/** What is kept of a section. */
interface Result extends Measurement {
  command: string;
  at: string;
  machine: string;
}

type Results = Readonly<Record<string, Result>>;

/** The last line that the bench printed. */
async function figuresOf(args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const command = ['--import', 'tsx', `${root}scripts/bench.ts`, ...args, '--json'];
  const bench = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const child = endWithBench(bench, 'SIGTERM');
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('{')) last = line;
  if (last === '') throw new Error(`bench ${args.join(' ')} printed no figures.`);
  return JSON.parse(last) as Readonly<Record<string, unknown>>;
}

async function idleMachine(): Promise<Rows> {
  const shares: number[] = [];
  for (let look = 0; look < IDLE_LOOKS; look++) {
    const before = machineBusyMs();
    await delay(IDLE_MS);
    shares.push((machineBusyMs() - before) / IDLE_MS);
  }
  return { machine: { busy_core: spreadOf(shares) } };
}

async function measured(section: Section): Promise<Result> {
  const targets =
    options.targets === undefined || !section.bench.startsWith('live') ? [] : ['--targets', options.targets];
  const args = [...section.bench.split(' '), ...section.lengthOf(length), ...targets];
  const idle = await idleMachine();
  const runs = [];
  for (let run = 0; run < (section.isRepeated === true ? length.rounds : 1); run++) runs.push(await figuresOf(args));
  const command = `npm run bench -- ${args.join(' ')}`;
  return { command, at: today(), machine: machine(), rounds: length.rounds, idle, rows: section.rowsOf(runs) };
}

const today = (): string => new Date().toISOString().slice(0, 10);

function partOf(section: Section, result: Result): string {
  const goals = judged(section.goals, result.rows);
  const { command, at, machine: of, rounds } = result;
  return [
    noiseOf(result),
    ...faultTexts(faultsOf(result)),
    ...section.tables.map((columns) => tableOf(result.rows, columns)),
    ...(goals.length === 0 ? [] : [markdownTable(GOAL_HEAD, goals)]),
    section.meaning,
    `\`${command}\`, ${section.isRepeated === true ? `${rounds} times, ` : ''}${at}, ${of}.`,
  ].join('\n\n');
}

const faultTexts = (faults: readonly string[]): string[] =>
  faults.length === 0 ? [] : [['Not fit for publication:', ...faults.map((fault) => `- ${fault}`)].join('\n')];

/** What the machine did without a gateway. */
function noiseOf({ idle, rows }: Result): string {
  const text = (row: string, column: string) => textOf(rows[row]?.[column] ?? { median: 0, min: 0, max: 0 });
  const before = `Noise of the machine: ${textOf(idle.machine?.busy_core ?? spreadOf([0]))} of a core was busy before the bench`;
  if (rows.direct === undefined) return `${before}.`;
  const [p50, p99] = 'answer_p50_ms' in rows.direct ? ['answer_p50_ms', 'answer_p99_ms'] : ['p50_ms', 'p99_ms'];
  return `${before}. \`direct\` had p50 ${text('direct', p50 as string)} ms and p99 ${text('direct', p99 as string)} ms.`;
}

const INTRODUCTION = `# Performance

\`npm run bench -- report --publish\` writes this page, and its figures to \`performance.json\`. Each section compares the gateway with
alternatives, which take turns in every round on the same machine. Ratios say more than times, which differ between machines. A figure is
the median of its rounds, with the lowest and the highest in brackets. Sections whose rounds other programs disturbed are missing.

The gateway is the built program, as \`voxgate serve\` runs it, in a separate process. The measured process has its own core. The clients
and the provider share another one (columns “load” and “provider”: shares of that core). They are written in C where they could become the
bottleneck. Clients send in real time, each in its own phase. The measurement starts after a warm-up. The provider answers in Deepgram’s
format, with an interim every second and a final every third second.

- \`direct\`: the clients connect to the provider directly. Its spread is the noise of the machine.
- \`gateway\`: a node with the adapter \`uws\`, with every promise and with billing. \`gateway-node\`: the same with the adapter \`node\`.
- \`handwritten\`: 25 lines of \`ws\` that forward every frame, one for one. \`floor\`: uWebSockets.js and \`ws\`, which only join frames to
  100 ms. \`nginx\`: a proxy in C that forwards bytes. \`portkey\` and \`litellm\`: other gateways, for files.
- “answer”: from the end of a second of audio until the client has its answer. “audio”: from sending a chunk until the provider has it,
  including the wait for more audio for the same frame ([delay or cost](guides/live.md)). “added”: in addition to \`direct\`.`;

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

const resultsIn = (path: string): Results => JSON.parse(readIfThere(path) ?? '{}');

/** With the published figures; with those of the last run where none are published. */
function comparedWithLast(result: Result, last: Result | undefined): string {
  if (last === undefined) return 'There is no last report with this section.';
  const lines = differences(result.rows, last.rows);
  const where = last.machine === result.machine ? last.at : `${last.at}, on another machine (${last.machine})`;
  if (lines.length === 0) return `No figure differs from the last report (${where}) by more than 15 %.`;
  return [`Differs from the last report (${where}) by more than 15 %:`, ...lines.map((line) => `- ${line}`)].join('\n');
}

mkdirSync(`${root}.cache/bench`, { recursive: true });
const lastPublished = resultsIn(published);
const sections = SECTIONS.filter(({ bench }) => bench.startsWith(options.only));
const estimate = sections.reduce((sum, section) => sum + estimatedSeconds(section, length), 0);
console.log(`${sections.length} sections, about ${Math.ceil(estimate / 60)} minutes.`);
for (const section of sections) {
  console.log(`\n## ${section.title}\n`);
  const startedMs = performance.now();
  try {
    const result = await measured(section);
    const lastRun = resultsIn(kept);
    console.log(`${partOf(section, result)}\n`);
    console.log(comparedWithLast(result, lastPublished[section.bench] ?? lastRun[section.bench]));
    writeFileSync(kept, JSON.stringify({ ...lastRun, [section.bench]: result }));
    if (options.publish) publish(section, result);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
  const tookSeconds = Math.round((performance.now() - startedMs) / 1_000);
  console.log(
    `\nThis section took ${tookSeconds} s; the estimate was ${Math.round(estimatedSeconds(section, length))} s.`,
  );
}

function publish(section: Section, result: Result): void {
  if (faultsOf(result).length > 0) {
    console.error('This section is not published, for the reasons above.');
    return;
  }
  writeFileSync(published, `${JSON.stringify({ ...resultsIn(published), [section.bench]: result }, null, 2)}\n`);
  writeFileSync(page, pageWith(readIfThere(page) ?? '', INTRODUCTION, { [section.title]: partOf(section, result) }));
}
