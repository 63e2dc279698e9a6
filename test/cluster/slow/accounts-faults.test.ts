// The node with the accounts is killed under running sessions and started again on its directory: who speaks goes on, who is known
// comes in, what is used meanwhile is billed to the micro-dollar.
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { APART, Cluster, NODE_START_MS } from '../rig/cluster.ts';
import { beginAll, createKey, expectBilled, FULL, latestMs } from '../rig/crowd.ts';

const TALKERS = FULL ? 50 : 4;
const KILLS = FULL ? 3 : 1;
/** Longer than a killed node waits for its own stale lease. */
const SECONDS = 30;
const SHORT_SECONDS = 4;
const NEW_KEY_MS_MAX = 25_000;

// It says itself why, when something that it needs is not here.
describe.skipIf(!natsServerIsHere)('sessions without the accounts node', () => {
  let cluster: Cluster;
  let url: string;
  beforeAll(async () => {
    cluster = await Cluster.start(APART);
    url = cluster.node('edge').url;
  }, 3 * NODE_START_MS);

  /** A client token asks for nothing but whose the key is. */
  const mint = async (key: string) => {
    const response = await fetch(`${url}/v1/tokens`, {
      method: 'POST',
      body: '{}',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    });
    const body = (await response.json()) as { error?: { code: string } };
    return { status: response.status, code: body.error?.code };
  };
  /** With a model that costs nothing. */
  const transcribed = async (key: string) => {
    const form = new FormData();
    form.set('model', 'local/commands-en');
    form.set('file', new Blob([await readFile('test/fixtures/audio/commands.wav')]), 'commands.wav');
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form });
    return { status: response.status, ...((await response.json()) as object) };
  };
  /** Asks until it is let in: how long that took. */
  const untilLetIn = async (key: string): Promise<number> => {
    const fromMs = performance.now();
    for (;;) {
      const { status, code } = await mint(key);
      if (status === 200) return performance.now() - fromMs;
      expect({ status, code }).toEqual({ status: 503, code: 'overloaded' });
    }
  };

  it(
    'continue for known keys, start paid ones on trust, delay unknown keys, and bill usage',
    async () => {
      const accounts = cluster.node('accounts');
      for (let kill = 1; kill <= KILLS; kill++) {
        const talkers = await beginAll(TALKERS, { url, key: cluster.key, seconds: SECONDS });
        const ending = await beginAll(TALKERS, { url, key: cluster.key, seconds: SHORT_SECONDS });
        await ending[0]?.said(SHORT_SECONDS / 2);
        await accounts.end('SIGKILL');
        const killedAtMs = performance.now();

        const unknown = await createKey(accounts);
        expect(await mint(cluster.key)).toEqual({ status: 200, code: undefined });
        expect(await mint(unknown)).toEqual({ status: 503, code: 'overloaded' });
        expect(await transcribed(cluster.key)).toMatchObject({ status: 200, text: expect.stringContaining('lights') });
        const trusted = await beginAll(TALKERS, { url, key: cluster.key, seconds: SHORT_SECONDS });
        await Promise.all([...ending, ...trusted].map((talker) => talker.finish()));

        const startedAtMs = performance.now();
        await accounts.start();
        const listensMs = performance.now() - startedAtMs;
        const letInMs = await untilLetIn(unknown);
        await Promise.all(talkers.map((talker) => talker.finish()));
        await expectBilled(cluster, url, talkers, SECONDS);
        await expectBilled(cluster, url, [...ending, ...trusted], SHORT_SECONDS);
        console.info(
          `${TALKERS} sessions; away ${Math.round(startedAtMs - killedAtMs)} ms, listens ${Math.round(listensMs)} ms after its start, a new key is good ${Math.round(letInMs)} ms later; the latest final after ${latestMs(talkers)} ms`,
        );
        expect(listensMs + letInMs).toBeLessThan(NEW_KEY_MS_MAX);
      }
    },
    KILLS * (60_000 + SECONDS * 2_000) + NODE_START_MS,
  );
});
