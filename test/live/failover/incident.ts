// A node whose providers are simulated and go wrong as they are told to, on a network in memory under one clock; and the
// sessions on it, with the times at which they were told things.
import { expect } from 'vitest';
import type { LegFailure } from '../../../machines/events.ts';
import type { ServerEvent } from '../../../src/api/listen-events.ts';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import type { EarSource } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorStage } from '../../../src/vendors/simulation/stage.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import {
  type DialFault,
  SimulatedNetwork,
  type SimulatedNetworkOptions,
} from '../../fakes/network/simulated-network.ts';
import { type RigClient, type RigOptions, SessionRig } from '../../fakes/session-rig.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { EventClock } from '../../simulation/event-clock.ts';
import { expectInOrder } from '../session/support.ts';
import { PROTOCOLS, PROVIDERS, type Protocol, rateOf } from './protocols.ts';
import { hearing, RATE, type SpokenTurn, spoken, turnsOf } from './spoken.ts';

/** No session goes on for longer. */
const LONGEST_MS = 3_600_000;

export const TEXTS = ['Good morning.', 'This is the second turn.', 'Yes.', 'Yes.'];

const providerAt = ({ hostname }: URL): string => hostname.replace(/\.test$/, '');
/** Providers whose WebSockets are asked for by a request. */
const ASKED = new Set(PROTOCOLS.filter(({ isAsked }) => isAsked).map(({ provider }) => provider));

export interface IncidentOptions extends Pick<RigOptions, 'settings'> {
  /** What is said in the sessions. */
  turns?: readonly SpokenTurn[];
  /** Said in place of turns: its audio at a rate, and what hears it. */
  speech?: Speech;
  /** Faults by provider, as of `--fault`. */
  faults?: Readonly<Record<string, readonly string[]>>;
  /** Credentials by provider; any other is a good one. */
  credentials?: Readonly<Record<string, string>>;
  /** How the dials to a provider are answered, one after the other; those behind the last as the last. */
  dials?: Readonly<Record<string, readonly DialFault[]>>;
  /** In place of the simulator of the same provider. */
  simulator?: ProviderSimulator;
  latencyMs?: SimulatedNetworkOptions['latencyMs'];
}

export interface Speech {
  audio(rate: number): Uint8Array;
  ear: EarSource;
}

/** How a client sends: chunks of so many bytes (0.1 s) at so many times real time, with `finalize` or nothing at all behind one of them. */
export interface Manner {
  chunkBytes?: (index: number) => number;
  speed?: number;
  finalizeAfterChunk?: number;
  /** So long nothing is sent. */
  silent?: { afterChunk: number; ms: number };
}

export interface Caller {
  client: RigClient;
  /** Hertz of its audio: one that all of its models take. */
  rate: number;
  told: { atMs: number; event: ServerEvent }[];
}

export class Incident {
  readonly clock = new EventClock();
  readonly rig: SessionRig;
  readonly dials: { provider: string; atMs: number }[] = [];
  readonly failures: { slug: string; atMs: number; failure: LegFailure }[] = [];
  readonly turns: readonly SpokenTurn[];
  readonly #speech: Speech;
  readonly #network: SimulatedNetwork;
  readonly #callers: Caller[] = [];

  constructor(options: IncidentOptions = {}) {
    const { clock } = this;
    this.turns = options.turns ?? turnsOf(TEXTS);
    const { turns } = this;
    this.#speech = options.speech ?? { audio: (rate) => spoken(turns, rate), ear: hearing(turns) };
    this.#network = new SimulatedNetwork({
      latencyMs: options.latencyMs ?? 5,
      // A WebSocket that a provider was asked for is no dial of its own.
      onDial: ({ url }) => (ASKED.has(providerAt(url)) ? undefined : this.#dialled(url, options.dials)),
      onRequest: (url) => this.#dialled(url, options.dials),
    });
    for (const known of simulators) {
      const simulator = options.simulator?.provider === known.provider ? options.simulator : known;
      const faults = options.faults?.[known.provider] ?? [];
      const stage = new SimulatorStage({ simulator, ear: this.#speech.ear, clock, faults });
      this.#network.serve(`${known.provider}.test`, stage);
    }
    this.rig = new SessionRig({
      clock,
      providers: [...PROVIDERS],
      openSocket: this.#network.openSocket,
      httpPools: this.#network.pools(clock),
      spoolDirectory: spoolDirectory(),
      access: (provider) => ({
        baseUrl: `ws://${provider}.test`,
        credential: options.credentials?.[provider] ?? 'good-key',
      }),
      ...(options.settings === undefined ? {} : { settings: options.settings }),
    });
    this.#noteFailures();
  }

  /** Opens a session, which notes when it is told what. */
  async call(
    chain: readonly string[],
    providerParams: Record<string, unknown> = {},
    rate = rateOf(chain) ?? RATE,
  ): Promise<Caller> {
    const [model, ...fallbacks] = chain as [string, ...string[]];
    const client = await this.rig.open({
      model,
      providerParams,
      fallbacks: fallbacks.map((fallback) => ({ model: fallback })),
      sampleRate: rate,
    });
    const told: Caller['told'] = client.events.map((event) => ({ atMs: this.clock.now(), event }));
    const send = client.send.bind(client);
    client.send = (text) => {
      told.push({ atMs: this.clock.now(), event: JSON.parse(text) as ServerEvent });
      return send(text);
    };
    const caller = { client, rate, told };
    this.#callers.push(caller);
    return caller;
  }

  /** Sends all that is to be said, then `close`. */
  speak({ client: { session }, rate }: Caller, manner: Manner = {}): void {
    const bytesPerSecond = 2 * rate;
    const { chunkBytes = () => bytesPerSecond / 10, speed = 1, finalizeAfterChunk, silent } = manner;
    const audio = this.#speech.audio(rate);
    let at = 0;
    let chunks = 0;
    const next = (): void => {
      if (at >= audio.byteLength) {
        session.control({ type: 'close' });
        return;
      }
      const chunk = audio.slice(at, at + chunkBytes(chunks));
      session.audio(chunk);
      if (chunks === finalizeAfterChunk) session.control({ type: 'finalize' });
      at += chunk.byteLength;
      const silentMs = chunks === silent?.afterChunk ? silent.ms : 0;
      chunks++;
      this.clock.setTimeout(next, silentMs + (chunk.byteLength * 1_000) / bytesPerSecond / speed);
    };
    next();
  }

  /** Goes on until the session has ended. */
  async ended({ client }: Caller): Promise<void> {
    await this.clock.run(this.clock.now() + LONGEST_MS, () => client.summary !== undefined);
    expect(client.summary, 'the session did not end').toBeDefined();
  }

  /** Everything that is due until then happens. */
  async until(atMs: number): Promise<void> {
    await this.clock.run(atMs, () => false);
  }

  /** A whole session: opened, spoken to, and ended. */
  async play(chain: readonly string[], manner: Manner = {}, providerParams = {}, rate?: number): Promise<Caller> {
    const caller = await this.call(chain, providerParams, rate);
    this.speak(caller, manner);
    await this.ended(caller);
    return caller;
  }

  dialsTo(provider: string): number[] {
    return this.dials.flatMap((dial) => (dial.provider === provider ? [dial.atMs] : []));
  }

  /** What holds for every incident: events in order, no fault of our own, and nothing left behind. */
  async close(): Promise<void> {
    this.rig.breakers.close();
    await this.clock.run(this.clock.now() + LONGEST_MS, () => this.clock.size === 0);
    for (const { client } of this.#callers) expectInOrder(client);
    expect(this.rig.faults).toEqual([]);
    expect({
      sessions: this.rig.sessions.size,
      legs: this.rig.upstream.size,
      links: this.#network.links.size,
      timers: this.clock.size,
    }).toEqual({ sessions: 0, legs: 0, links: 0, timers: 0 });
  }

  #dialled(url: URL, faults: IncidentOptions['dials']): DialFault | undefined {
    const provider = providerAt(url);
    this.dials.push({ provider, atMs: this.clock.now() });
    const answers = faults?.[provider];
    return answers?.[this.dialsTo(provider).length - 1] ?? answers?.at(-1);
  }

  #noteFailures(): void {
    const { upstream } = this.rig;
    const open = upstream.open.bind(upstream);
    upstream.open = (legId, request, report, onGone) =>
      open(
        legId,
        request,
        (said) => {
          if (said.type === 'leg.failed')
            this.failures.push({ slug: request.slug, atMs: this.clock.now(), failure: said.failure });
          report(said);
        },
        onGone,
      );
  }
}

let directory: string | undefined;

function spoolDirectory(): string {
  directory ??= temporaryDirectory();
  return directory;
}

export const textsOf = ({ client }: Caller): string[] =>
  client.finals.map(({ text }) => text).filter((text) => text !== '');

/** Every turn that was said has one final, in order; nothing was lost; the session ended in order. */
export function expectAllHeard(caller: Caller, { turns }: Pick<Incident, 'turns'>): void {
  expect(textsOf(caller)).toEqual(turns.map(({ text }) => text));
  expect(caller.client.of('discontinuity')).toEqual([]);
  expect(caller.client.closeCode).toBe(1000);
}

/** All was heard, and the client was told of one failover: from the model to its fallback. */
export function expectFailover(caller: Caller, incident: Incident, { slug, fallback }: Protocol, reason: string): void {
  expect(caller.client.of('failover')).toMatchObject([{ from: slug, to: fallback, reason }]);
  expectAllHeard(caller, incident);
}

/** When the client was told of that event for the first time. */
export function toldAt({ told }: Caller, type: ServerEvent['type']): number {
  const found = told.find(({ event }) => event.type === type);
  if (found === undefined) throw new Error(`The client was not told of ${type}.`);
  return found.atMs;
}
