// The first start of a gateway that keeps three copies on three nats-servers, while the third server does not run yet.
import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { STALE_LEASE_WAIT_MS } from '../../../../src/cluster/membership/name-lease.ts';
import { startNatsCluster } from '../../../fakes/network/nats-cluster.ts';
import { natsServerIsHere } from '../../../fakes/network/nats-server.ts';
import { ClusterNode, NODE_START_MS } from '../../rig/cluster.ts';

/** Longer than a start waits for anything else. */
const LATE_MS = STALE_LEASE_WAIT_MS + 5_000;

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('VOXGATE_NATS_REPLICAS=3 with two of three nats-servers', () => {
  test(
    'lets nodes of every role wait, warn once why, and serve when the third server starts',
    async () => {
      const nats = await startNatsCluster({ late: 1 });
      onTestFinished(() => nats.stop());
      const env = { VOXGATE_NATS: nats.urls.join(','), VOXGATE_NATS_REPLICAS: '3' };
      const nodes = ['accounts', 'upstream', 'edge'].map(
        (roles) => new ClusterNode(roles, { ...env, VOXGATE_ROLES: roles }),
      );
      onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.end('SIGKILL')))));
      const starts = Promise.allSettled(nodes.map((node) => node.start()));
      await Promise.all(
        nodes.map((node) => node.logged('cluster', ({ reason }) => /no suitable peers/.test(`${reason}`))),
      );
      expect(await Promise.race([starts, after(LATE_MS, 'waiting')])).toBe('waiting');
      await nats.startLate();
      expect((await starts).flatMap((start) => (start.status === 'rejected' ? [String(start.reason)] : []))).toEqual(
        [],
      );
      for (const { log } of nodes)
        expect(log.filter(({ reason }) => /no suitable peers/.test(`${reason}`))).toHaveLength(1);
      const [accounts, , edge] = nodes;
      const headers = { Authorization: `Bearer ${accounts?.key}` };
      expect((await fetch(`${edge?.url}/v1/models`, { headers })).status).toBe(200);
    },
    LATE_MS + 3 * NODE_START_MS,
  );
});
