// Cuts at random bytes of real connections, in both directions and at every protocol: each sample is in one final, there is
// one failover, and nothing is left. CUT_SESSIONS=<count> plays so many, from CUT_FIRST=<seed>, CUT_PARALLEL at a time, and
// prints what came of them; CUT_SEED=<seed> plays that one alone, at byte CUT_BYTES where that is given.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CutPoints, type Played, within } from './cut-points.ts';
import { cutOf, MODELS } from './cut-points-draw.ts';
import { OpenSockets } from './cut-points-sockets.ts';

const only = process.env.CUT_SEED;
const count = Number(process.env.CUT_SESSIONS ?? 150);
const first = Number(process.env.CUT_FIRST ?? 1);
const parallel = Number(process.env.CUT_PARALLEL ?? 75);
/** Of a closing handshake that a provider does not answer, and some more. */
const CLOSING_MS_MAX = 5_000;
const BROKEN_SHOWN_MAX = 20;

const sockets = new OpenSockets();
let world: CutPoints;
let wholes: Played[];

beforeAll(async () => {
  world = await CutPoints.start();
  wholes = await world.measure();
});

afterAll(async () => {
  await world.close();
  sockets.stop();
});

/** What is said of a session that broke a promise. Sockets have a time of their own: it may hold when it is played again. */
const wordsOf = ({ cut, afterBytes, passed, ends, problems, events }: Played) => ({
  again: `CUT_SEED=${cut.seed} CUT_BYTES=${afterBytes}`,
  what: `${cut.from} to ${cut.to}, ${cut.direction}, ${cut.how}`,
  passed: JSON.stringify(passed),
  ends,
  story: events
    .filter((event) => event.type !== 'transcript' || event.is_final)
    .map((event) =>
      event.type === 'transcript'
        ? `${event.model} ${event.text}`
        : JSON.stringify({ ...event, session_id: '' }).slice(0, 300),
    ),
  problems,
});

/** Counts what came of the sessions; only those that broke a promise are kept. */
class Tally {
  readonly broken: ReturnType<typeof wordsOf>[] = [];
  readonly #rows: Record<string, { sessions: number; failovers: number; hadEverything: number; broken: number }> = {};
  readonly #startedMs = performance.now();
  readonly #loop = monitorEventLoopDelay({ resolution: 5 });

  constructor() {
    this.#loop.enable();
  }

  add(played: Played): void {
    const { cut, failovers, hadEverything, problems } = played;
    const name = `${cut.from} ${cut.direction}`;
    this.#rows[name] ??= { sessions: 0, failovers: 0, hadEverything: 0, broken: 0 };
    const row = this.#rows[name];
    row.sessions++;
    row.failovers += failovers;
    row.hadEverything += Number(hadEverything);
    row.broken += Number(problems.length > 0);
    if (problems.length > 0 && this.broken.length < BROKEN_SHOWN_MAX) this.broken.push(wordsOf(played));
  }

  summary(): string {
    const seconds = Math.round((performance.now() - this.#startedMs) / 1000);
    const loopDelayMsMax = Math.round(this.#loop.max / 1e6);
    const rows = Object.entries(this.#rows).map(([name, row]) => `${name}: ${JSON.stringify(row)}`);
    return [`${count} sessions, ${seconds} s, loop delay at most ${loopDelayMsMax} ms`, ...rows.sort()].join('\n');
  }
}

/** Plays the seeds, so many at a time. */
async function playAll(): Promise<Tally> {
  const tally = new Tally();
  let seed = first;
  const playOn = async (): Promise<void> => {
    while (seed < first + count) tally.add(await world.play(cutOf(seed++)));
  };
  await Promise.all(Array.from({ length: parallel }, playOn));
  return tally;
}

test('needs no other model for an uncut session, with any provider', () => {
  expect(wholes.filter(({ problems }) => problems.length > 0).map(wordsOf)).toEqual([]);
  expect(wholes.filter(({ hadEverything }) => hadEverything)).toHaveLength(MODELS.length);
});

if (only !== undefined) {
  test(`seed ${only} holds`, async () => {
    const cut = cutOf(Number(only));
    const played = await world.play(
      cut,
      ...(process.env.CUT_BYTES === undefined ? [] : [Number(process.env.CUT_BYTES)]),
    );
    console.log(JSON.stringify({ ...cut, chunks: cut.chunks.length, ...wordsOf(played) }, null, 1));
    expect(played.problems).toEqual([]);
  });
} else {
  test(
    'loses and repeats no sample after a cut at any byte, with one failover',
    async () => {
      const tally = await playAll();
      if (process.env.CUT_SESSIONS !== undefined) console.log(tally.summary());
      expect(tally.broken).toEqual([]);
      expect(world.faults).toEqual([]);
    },
    60_000 + count * 1_000,
  );
}

test('closes every socket with its session', async () => {
  await within(CLOSING_MS_MAX, sockets.gone());
  expect(sockets.open).toEqual([]);
});
