// Two nodes that need the bus for nothing but the accounts, a third whose legs are all on the others, and people who talk on them
// while the bus is away. What became of them is asked of the client and of the ledger.
import { setTimeout as after } from 'node:timers/promises';
import { expect } from 'vitest';
import { passwordOf, type User } from '../../deploy/nats-rig.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import type { NatsServerOptions } from '../../fakes/network/nats-server.ts';
import { type Outcome, voxgate } from '../../fakes/processes/voxgate.ts';
import { Cluster, MICRO_USD_PER_MS } from './cluster.ts';
import { Talker } from './talker.ts';

const RATE = 16_000;
const BYTES_PER_TURN = 2 * RATE * 2;
const STARTED_AT_ONCE = 10;
const CREDIT_USD = 20_000;
const SETTLED_MS_MAX = 30_000;
const AGAIN_MS = 100;
/** A node that is busy asks to come again in a second. */
const LET_IN_MS_MAX = 5_000;
/** Nobody is refused for coming in a crowd. */
const ROOM = {
  VOXGATE_SESSIONS_PER_KEY_MAX: '10000',
  VOXGATE_SESSIONS_PER_ORGANISATION_MAX: '10000',
  VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '100000',
};

export type NodeId = 'a' | 'b' | 'c';
export interface Key {
  id: string;
  secret: string;
}

/** Someone who talks for a whole number of seconds. */
export interface Said {
  talker: Talker;
  node: NodeId;
  seconds: number;
}

/** A gateway with the accounts of one prepaid organisation. */
export class BusFaultRig {
  readonly cluster: Cluster;
  /** All who have talked. */
  readonly said: Said[] = [];
  private organisationId = '';
  private readonly run: (args: readonly string[]) => Promise<Outcome>;

  private constructor(cluster: Cluster) {
    this.cluster = cluster;
    const env = { VOXGATE_DATA_DIRECTORY: cluster.node('a').directory };
    this.run = (args) => voxgate(args, env);
  }

  /** `nats`: a server as it is deployed, which the variables say how to reach; one on this machine when absent. */
  static async start(env: Record<string, string> = {}, nats?: NatsServerOptions): Promise<BusFaultRig> {
    const users = (user: User) =>
      nats === undefined ? {} : { VOXGATE_NATS_USER: user, VOXGATE_NATS_PASSWORD: passwordOf(user) };
    const cluster = await Cluster.start(
      {
        a: { roles: 'edge,upstream,accounts', env: users('node') },
        b: { roles: 'edge,upstream', env: users('node') },
        c: { roles: 'edge', env: users('edge') },
      },
      { ...ROOM, ...env },
      nats,
    );
    const rig = new BusFaultRig(cluster);
    rig.organisationId = await rig.command('orgs', 'create', 'prepaid');
    await rig.command('orgs', 'credit', rig.organisationId, String(CREDIT_USD));
    return rig;
  }

  async createKey(name: string): Promise<Key> {
    const secret = await this.command('keys', 'create', '--org', this.organisationId, '--name', name);
    const listed = JSON.parse(await this.command('keys', 'list', '--org', this.organisationId, '--json')) as {
      id: string;
      name: string;
    }[];
    const id = listed.find((each) => each.name === name)?.id ?? '';
    return { id, secret };
  }

  /** On the machine of the node that keeps the accounts. */
  async command(...args: string[]): Promise<string> {
    const { code, output, errors } = await this.run(args);
    if (code !== 0) throw new Error(`voxgate ${args.join(' ')} ended with ${code}: ${errors}`);
    return output.trim();
  }

  /** So many begin to talk on a node, a few at a time; resolves when all of them do. */
  async talk(node: NodeId, count: number, seconds: number, { secret }: Key): Promise<Said[]> {
    const { url } = this.cluster.node(node);
    const speech = { url, key: secret, seconds, audio: numberedAudio(0, seconds * RATE) };
    const all: Said[] = [];
    while (all.length < count) {
      const some = Array.from({ length: Math.min(STARTED_AT_ONCE, count - all.length) }, () =>
        patiently(() => Talker.begin(speech), LET_IN_MS_MAX),
      );
      for (const { value: talker } of await Promise.all(some)) all.push({ talker, node, seconds });
    }
    this.said.push(...all);
    return all;
  }

  /** The status of an answer to somebody who comes with a key, and the code of a refusal. */
  async visit(node: NodeId, { secret }: Key): Promise<{ status: number; code?: string | undefined }> {
    const response = await fetch(`${this.cluster.node(node).url}/v1/models`, {
      headers: { Authorization: `Bearer ${secret}` },
    });
    const { error } = (await response.json()) as { error?: { code: string } };
    return { status: response.status, ...(error === undefined ? {} : { code: error.code }) };
  }

  /** Everybody has said everything: each sample is in exactly one final, and nobody heard of an error. */
  async expectWhole(): Promise<void> {
    for (const { talker, seconds } of this.said) {
      const { cost_usd } = await talker.finish();
      const errors = [...talker.of('error'), ...talker.of('discontinuity')];
      expect({ errors, microUsd: microUsd(cost_usd) }).toEqual({ errors: [], microUsd: costOf(seconds) });
    }
  }

  /** The ledger knows each of these sessions once, at exactly what it cost; and of no other. `ended`: cut short, at any cost. */
  async expectBilled({ secret }: Key, cutShort: readonly string[] = []): Promise<void> {
    const seen = async (path: string) => {
      const response = await fetch(`${this.cluster.node('a').url}${path}`, {
        headers: { Authorization: `Bearer ${secret}` },
      });
      return (await response.json()) as { state: string; cost_usd: string; held_usd: string; balance_usd: string };
    };
    const settled = async (id: string) => {
      const ended = { state: 'ended', held_usd: '0.00' };
      const session = () => seen(`/v1/sessions/${id}`);
      await expect.poll(session, { timeout: SETTLED_MS_MAX }).toMatchObject(ended);
      return microUsd((await session()).cost_usd);
    };
    let sum = 0;
    for (const { talker, seconds } of this.said) {
      expect(await settled(talker.sessionId)).toBe(costOf(seconds));
      sum += costOf(seconds);
    }
    for (const id of cutShort) sum += await settled(id);
    expect(microUsd((await seen('/v1/balance')).balance_usd)).toBe(CREDIT_USD * 1e6 - sum);
    expect(await this.command('ledger', 'audit')).toMatch(/agree/);
  }
}

const microUsd = (usd: string | number | null | undefined): number => Math.round(Number(usd) * 1e6);
const costOf = (seconds: number): number => seconds * 1000 * MICRO_USD_PER_MS;

export interface Recovered {
  /** The first final of each. */
  finalMs: number[];
  /** The first final of each that has what was said before then, up to the turn under way. */
  caughtUpMs: number[];
}

/** How long after a moment each of them heard what; waits for it. Milliseconds. */
export async function recovered(said: readonly Said[], sinceMs: number): Promise<Recovered> {
  const each = await Promise.all(
    said.map(async ({ talker }) => {
      const heard = talker.finalTimes.filter((at) => at <= sinceMs).length;
      const turns = Math.floor(talker.sentBytes / BYTES_PER_TURN);
      const whole = Math.max(heard + 1, turns);
      await talker.heardFinals(whole);
      const { finalTimes } = talker;
      return [heard, whole - 1].map((index) => Math.round((finalTimes[index] as number) - sinceMs));
    }),
  );
  return { finalMs: each.map(([first]) => first as number), caughtUpMs: each.map(([, last]) => last as number) };
}

/** The least and the most of them. */
export const span = (ms: readonly number[]): string => `${Math.min(...ms)} to ${Math.max(...ms)} ms`;

export interface Period {
  fromMs: number;
  toMs: number;
}

/** The longest that anybody waited for a final, of pauses that touch the period. Milliseconds. */
export function longestPauseMs(said: readonly Said[], { fromMs, toMs }: Period): number {
  const pauses = said.flatMap(({ talker: { finalTimes } }) =>
    finalTimes.slice(1).flatMap((at, index) => {
      const before = finalTimes[index] as number;
      return at > fromMs && before < toMs ? [at - before] : [];
    }),
  );
  return Math.round(Math.max(...pauses));
}

/** Somebody who is let in as soon as the nodes are together again; how long that took. */
export async function patiently<Value>(
  begin: () => Promise<Value>,
  withinMs: number,
): Promise<{ value: Value; tookMs: number }> {
  const beganMs = performance.now();
  for (;;) {
    try {
      return { value: await begin(), tookMs: Math.round(performance.now() - beganMs) };
    } catch (error) {
      if (performance.now() - beganMs > withinMs) throw error;
      await after(AGAIN_MS);
    }
  }
}
