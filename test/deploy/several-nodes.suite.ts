// Two nodes behind a proxy, of which one stops: it gets no new request from the moment the proxy knows.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lookup, type RunningProxy } from './proxy-rig.ts';

const REQUESTS = 12;
/** Some times the interval at which a proxy asks. */
const KNOWN_MS_MAX = 15_000;

export interface ProxyOfSeveral<Proxy extends RunningProxy> {
  start(...ports: number[]): Promise<Proxy>;
  /** What an operator does at the proxy when a node becomes ready, or is about to stop. */
  mark(proxy: Proxy, port: number, isReady: boolean): Promise<void>;
}

export function severalNodesSuite<Proxy extends RunningProxy>({ start, mark }: ProxyOfSeveral<Proxy>): void {
  describe('two nodes of which one drains', () => {
    const nodes = [0, 1].map(() => {
      const node = { isReady: true, served: 0, server: createServer() };
      node.server.on('request', (incoming, response) => {
        if (incoming.url === '/readyz') return void response.writeHead(node.isReady ? 200 : 503).end();
        node.served++;
        response.end();
      });
      return node;
    });
    let proxy: Proxy;
    let agent: Agent;
    beforeAll(async () => {
      for (const { server } of nodes) await once(server.listen(0, '127.0.0.1'), 'listening');
      proxy = await start(...nodes.map(({ server }) => (server.address() as AddressInfo).port));
      agent = new Agent({ connect: { ca: proxy.ca, lookup } });
    });
    afterAll(async () => {
      await agent.destroy();
      for (const { server } of nodes) server.close().closeAllConnections();
    });

    /** What each node got of some requests, all of which are served. */
    const shares = async (): Promise<number[]> => {
      for (const node of nodes) node.served = 0;
      const answers = await Promise.all(
        Array.from({ length: REQUESTS }, async () => {
          const { statusCode, body } = await request(`${proxy.url}/v1/models`, { dispatcher: agent });
          await body.dump();
          return statusCode;
        }),
      );
      expect(answers).toEqual(Array(REQUESTS).fill(200));
      return nodes.map(({ served }) => served);
    };
    const setReady = async (index: number, isReady: boolean) => {
      const { server } = Object.assign(nodes[index]!, { isReady });
      await mark(proxy, (server.address() as AddressInfo).port, isReady);
    };

    test('share requests, none of which the draining one gets, and share them again', async () => {
      expect((await shares()).every((served) => served > 0)).toBe(true);
      await setReady(0, false);
      await expect.poll(shares, { timeout: KNOWN_MS_MAX }).toEqual([0, REQUESTS]);
      await setReady(0, true);
      await expect.poll(async () => (await shares())[0], { timeout: KNOWN_MS_MAX }).toBeGreaterThan(0);
    });
  });
}
