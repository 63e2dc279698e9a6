// Several talkers at once and what became of them: how late their words were, and what the accounts say they cost.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { withoutNode } from '../../fakes/metrics-text.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { type Cluster, type ClusterNode, MICRO_USD_PER_MS } from './cluster.ts';
import { type Speech, Talker } from './talker.ts';

/** `CLUSTER_FULL=1` asks for the sizes whose figures are published; the small ones take seconds. */
export const FULL = process.env.CLUSTER_FULL === '1';

const STARTED_AT_ONCE = 10;

/** Begins so many, a few at a time: what is tested is not how fast they come. */
export async function beginAll(count: number, speech: Speech): Promise<Talker[]> {
  const talkers: Talker[] = [];
  while (talkers.length < count) {
    const some = Math.min(STARTED_AT_ONCE, count - talkers.length);
    talkers.push(...(await Promise.all(Array.from({ length: some }, () => Talker.begin(speech)))));
  }
  return talkers;
}

/** How long after it was said the last word of a turn was final, at worst. Milliseconds. */
export function latestMs(talkers: readonly Talker[]): number {
  const late = talkers.flatMap((talker) => {
    const began = talker.times[talker.events.findIndex(({ type }) => type === 'session_started')] ?? 0;
    return talker.events.flatMap((event, index) =>
      event.type === 'transcript' && event.is_final ? [(talker.times[index] ?? 0) - began - event.end * 1000] : [],
    );
  });
  return Math.round(Math.max(...late));
}

/** A number that the node shows on its metrics, by its name and its labels but the node. */
export async function metric(node: ClusterNode, name: string): Promise<number> {
  const text = withoutNode(await (await fetch(`${node.url}/metrics`)).text());
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  if (line === undefined) throw new Error(`${node.id} shows no ${name}.`);
  return Number(line.slice(name.length));
}

/** A new key of the gateway's own organisation, made beside the node that keeps the accounts. */
export async function createKey(accounts: ClusterNode): Promise<string> {
  const { code, output } = await voxgate(['keys', 'create', '--name', randomUUID()], directoryOf(accounts));
  expect(code).toBe(0);
  return output.trim();
}

/** The ledger's own audit agrees. */
export async function expectAgreement(accounts: ClusterNode): Promise<void> {
  const { code, output } = await voxgate(['ledger', 'audit', '--json'], directoryOf(accounts));
  const verdict = JSON.parse(output.trim().split('\n').at(-1) ?? '') as { ok: boolean; faults: unknown };
  expect({ code, ...verdict }).toMatchObject({ code: 0, ok: true });
}

const directoryOf = ({ directory }: ClusterNode) => ({ VOXGATE_DATA_DIRECTORY: directory });

export interface SessionSeen {
  state: string;
  end_reason: string | null;
  cost_usd: string;
  held_usd: string;
  audio_seconds: number;
}

/** What the gateway says of a session that was opened with that key; undefined when it knows none of that id. */
export async function sessionSeen(url: string, key: string, id: string): Promise<SessionSeen | undefined> {
  const path = `/v1/sessions/${encodeURIComponent(id)}`;
  const response = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${key}` } });
  if (response.status === 404) return undefined;
  const body = (await response.json()) as SessionSeen;
  expect({ status: response.status, body }).toMatchObject({ status: 200 });
  return body;
}

/** The milliseconds of audio that it costs. */
export const billedMs = (seen: SessionSeen | undefined): number =>
  Math.round(Number(seen?.cost_usd ?? 0) * 1e6) / MICRO_USD_PER_MS;

/** Resolves when the accounts have settled them all. */
export async function settled(accounts: ClusterNode, talkers: readonly Talker[]): Promise<void> {
  for (const { sessionId } of talkers)
    await accounts.logged('usage is settled', (line) => line.sessionId === sessionId);
}

/** Each of them is settled once, at exactly what it said, and the ledger agrees. */
export async function expectBilled(
  cluster: Cluster,
  url: string,
  talkers: readonly Talker[],
  seconds: number,
): Promise<void> {
  const accounts = cluster.node('accounts');
  await settled(accounts, talkers);
  for (const { sessionId } of talkers) {
    const seen = await sessionSeen(url, cluster.key, sessionId);
    expect(seen).toMatchObject({ state: 'ended', held_usd: '0.00' });
    expect(billedMs(seen)).toBe(seconds * 1000);
  }
  await expectAgreement(accounts);
}
