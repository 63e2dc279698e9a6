// One session whose connection to its first provider is cut at a byte: real sockets through a fault proxy, and the simulated
// provider of another protocol to fall back to. What is cut where is drawn in cut-points-draw.ts; what holds is said by `problemsOf`.
import type { ServerEvent } from '../../../../src/api/listen-events.ts';
import { type OpenSocket, openWire } from '../../../../src/live/upstream/wire/open-wire.ts';
import { systemClock } from '../../../../src/runtime/telemetry/clock.ts';
import { numberedEar } from '../../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../../src/vendors/simulators.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { type Direction, FaultProxy, type Program, type ProxyConnection } from '../../../fakes/fault-proxy.ts';
import { type RigClient, SessionRig } from '../../../fakes/session-rig.ts';
import { temporaryDirectory } from '../../../fakes/temporary-directory.ts';
import { gapsIn } from '../../../simulation/whole.ts';
import { expectInOrder } from '../../session/support.ts';
import { PROVIDERS, providerOf } from '../protocols.ts';
import { type Cut, MODELS, RATE, SAMPLES, TURN_SECONDS, uncut } from './cut-points-draw.ts';

const INTERIM_SECONDS = 0.25;
/** No session takes so long, nor does a socket of one that has ended. */
const SESSION_MS_MAX = 60_000;
const CLOSING_MS_MAX = 10_000;
/** Providers tell times in milliseconds. */
const BILLING_SECONDS = 0.002;

/** What a session sends and how long it takes when nothing is cut. */
export interface Whole {
  bytes: Record<Direction, number>;
  tookMs: number;
}

export interface Played {
  cut: Cut;
  /** Bytes after which the connection was to be cut, and those that passed. */
  afterBytes: number;
  passed: Readonly<Record<Direction, number>>;
  events: readonly ServerEvent[];
  failovers: number;
  /** How each of the gateway's connections ended, where it was not the gateway that ended it. */
  ends: string[];
  problems: string[];
  /** Whether the first model had given every sample its final. */
  hadEverything: boolean;
  tookMs: number;
}

/** The simulated providers, and the sessions played against them. */
export class CutPoints {
  readonly #servers: ReadonlyMap<string, SimulatorServer>;
  readonly #spoolDirectory = temporaryDirectory();
  readonly #wholes = new Map<string, Whole>();
  /** What the simulators threw. */
  readonly faults: unknown[];

  private constructor(servers: ReadonlyMap<string, SimulatorServer>, faults: unknown[]) {
    this.#servers = servers;
    this.faults = faults;
  }

  static async start(): Promise<CutPoints> {
    const faults: unknown[] = [];
    const ear = numberedEar({ turnSeconds: TURN_SECONDS, interimSeconds: INTERIM_SECONDS });
    const servers = simulators.map(
      async (simulator) =>
        [
          simulator.provider,
          await SimulatorServer.start({ simulator, ear, onFault: (error) => faults.push(error) }),
        ] as const,
    );
    return new CutPoints(new Map(await Promise.all(servers)), faults);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  /** Plays an uncut session of each model, which the cuts of others are measured by. */
  async measure(): Promise<Played[]> {
    const played = await Promise.all(MODELS.map((model) => this.play(uncut(model))));
    for (const { cut, passed, tookMs } of played) this.#wholes.set(cut.from, { bytes: { ...passed }, tookMs });
    return played;
  }

  /**
   * Plays a session from its first dial until nothing of it is left.
   *
   * @param afterBytes where it is cut, when that is not the cut's own share of a whole session
   */
  async play(cut: Cut, afterBytes: number = this.#placeOf(cut)): Promise<Played> {
    const startedMs = performance.now();
    const connections: ProxyConnection[] = [];
    let holeTimer: NodeJS.Timeout | undefined;
    const proxy = await FaultProxy.start({
      port: this.#serverOf(cut.from).port,
      program: (connection) => {
        connections.push(connection);
        // Whoever comes again is refused before a byte has passed.
        if (connections.length > 1) return { toClient: { resetPeerBytes: 0 } };
        if (cut.how === 'hole') holeTimer = setTimeout(() => connection.reset(), this.#holeEndsMs(cut));
        return programOf(cut, afterBytes);
      },
    });
    const ends: string[] = [];
    const rig = new SessionRig({
      clock: systemClock,
      openSocket: noting((end) => ends.push(`${Math.round(performance.now() - startedMs)} ms: ${end}`)),
      providers: [...PROVIDERS],
      spoolDirectory: this.#spoolDirectory,
      access: (provider) => ({
        baseUrl: `http://127.0.0.1:${provider === providerOf(cut.from) ? proxy.port : this.#serverOf(provider).port}`,
        credential: 'good-key',
      }),
    });
    const client = await rig.open({ model: cut.from, fallbacks: [{ model: cut.to }], sampleRate: RATE });
    speak(client, cut);
    const problems: string[] = [];
    if (!(await within(SESSION_MS_MAX, client.ended()))) problems.push(`did not end in ${SESSION_MS_MAX} ms`);
    const tookMs = performance.now() - startedMs;
    if (!(await within(CLOSING_MS_MAX, Promise.all(connections.map(({ closed }) => closed)))))
      problems.push(`${proxy.connections} connections left`);
    clearTimeout(holeTimer);
    await proxy.close();
    rig.breakers.close();
    const hadEverything = hearsAll(client, cut.from);
    const passed = connections[0]?.passed ?? { toServer: 0, toClient: 0 };
    // A hole is reset at its time, whether it was reached or not.
    if (cut.how !== 'hole' && passed[cut.direction] < afterBytes && !hadEverything)
      problems.push('failed without a cut');
    problems.push(...problemsOf(cut, client, hadEverything), ...leftIn(rig));
    const { events } = client;
    const failovers = client.of('failover').length;
    return { cut, afterBytes, passed, events, failovers, ends, problems, hadEverything, tookMs };
  }

  #serverOf(modelOrProvider: string): SimulatorServer {
    return this.#servers.get(providerOf(modelOrProvider)) as SimulatorServer;
  }

  /** Uniform over all that a whole session sends, the upgrade included; the last place is behind its last byte. */
  #placeOf({ from, direction, share }: Cut): number {
    const whole = this.#wholes.get(from);
    return whole === undefined ? 0 : Math.floor(share * (whole.bytes[direction] + 1));
  }

  #holeEndsMs({ from, share, holeMs }: Cut): number {
    return share * (this.#wholes.get(from)?.tookMs ?? 0) + holeMs;
  }
}

function programOf({ how, direction }: Cut, bytes: number): Program {
  if (how === 'none') return {};
  const name = ({ reset: 'resetPeerBytes', end: 'limitDataBytes', hole: 'blackholeBytes' } as const)[how];
  return { [direction]: { [name]: bytes } };
}

/** The gateway's own sockets; their ends are noted, as their order in time cannot be played again. */
function noting(note: (end: string) => void): OpenSocket {
  return (endpoint, listener, clock) => {
    const { pathname: host } = new URL(endpoint.url);
    return openWire(
      endpoint,
      {},
      {
        opened: () => listener.opened(),
        message: (message) => listener.message(message),
        alive: () => listener.alive(),
        drained: () => listener.drained(),
        closed: (code, reason) => {
          note(`${host} closed with ${code} ${reason}`);
          listener.closed(code, reason);
        },
        refused: (refusal) => {
          note(`${host} refused with ${refusal.status}`);
          listener.refused(refusal);
        },
        unreachable: (message) => {
          note(`${host}: ${message}`);
          listener.unreachable(message);
        },
      },
      clock,
    );
  };
}

/** The client: its chunks one after the other, then `close`. */
function speak({ session }: RigClient, { chunks, finalizeAfterChunk }: Cut): void {
  let index = 0;
  let position = 0;
  const next = (): void => {
    const chunk = chunks[index];
    if (chunk === undefined) {
      session.control({ type: 'close' });
      return;
    }
    session.audio(numberedAudio(position, position + chunk.samples));
    position += chunk.samples;
    if (index === finalizeAfterChunk) session.control({ type: 'finalize' });
    index++;
    setTimeout(next, chunk.pauseMs);
  };
  next();
}

/** Whether the finals of this model alone tell of every sample. */
function hearsAll({ finals }: RigClient, model: string): boolean {
  const own = finals.filter((final) => final.model === model);
  return gapsIn(own, SAMPLES, RATE, []).length === 0;
}

/**
 * What is wrong with a session, one sentence each. There is exactly one failover, with one exception: when the first model
 * had given every sample its final before its connection was lost, nothing is owed and there is none. The exception is seen
 * in the finals, not granted by where the cut was.
 */
function problemsOf({ from, to }: Cut, client: RigClient, hadEverything: boolean): string[] {
  const problems = [...gapsIn(client.finals, SAMPLES, RATE, []), ...disorderIn(client)];
  if (client.closeCode !== 1000) problems.push(`closed with ${client.closeCode}`);
  const failovers = client.of('failover');
  if (failovers.length !== (hadEverything ? 0 : 1))
    problems.push(`${failovers.length} failovers, and the first model had ${hadEverything ? '' : 'not '}heard all`);
  if (failovers.some((event) => event.from !== from || event.to !== to)) problems.push('fell back to another model');
  for (const event of client.of('discontinuity')) problems.push(`lost ${event.from} s to ${event.to} s`);
  for (const { code } of client.of('warning')) if (code === 'upstream_reconnected') problems.push('reconnected');
  const usage = client.of('session_ended')[0]?.usage ?? [];
  const billed = usage.reduce((sum, { seconds }) => sum + seconds, 0);
  if (Math.abs(billed - SAMPLES / RATE) > BILLING_SECONDS * usage.length) problems.push(`billed ${billed} s`);
  return problems;
}

function disorderIn(client: RigClient): string[] {
  try {
    expectInOrder(client);
    return [];
  } catch (error) {
    return [String(error)];
  }
}

function leftIn(rig: SessionRig): string[] {
  const left = { sessions: rig.sessions.size, legs: rig.upstream.size, actors: rig.bus.actors };
  return [
    ...Object.entries(left).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what} left`])),
    ...rig.faults.map(({ name, error }) => `fault in ${name}: ${error}`),
  ];
}

/** Whether something came to its end in time. */
export async function within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  const inTime = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}
