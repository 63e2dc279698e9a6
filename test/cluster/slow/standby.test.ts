// A standby for the accounts: it waits, ends with a code after which it is started again, and takes over when the owner ends.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { voxgateProcess } from '../../fakes/processes/voxgate.ts';
import { Cluster, NODE_START_MS, SECRET } from '../rig/cluster.ts';
import { Talker } from '../rig/talker.ts';

const TEMPORARY = 75;
const unit = readFileSync('deploy/voxgate.service', 'utf8');
const [, hopeless = ''] = /^RestartPreventExitStatus=(.*)$/m.exec(unit) ?? [];

// It says itself why, when something that it needs is not here.
describe.skipIf(!natsServerIsHere)('a standby on the volume of the accounts', () => {
  it(
    'restarts under systemd while it waits, and takes the accounts when their node has ended',
    async () => {
      const cluster = await Cluster.start({ accounts: { roles: 'accounts' }, edge: { roles: 'edge,upstream' } });
      const accounts = cluster.node('accounts');
      const env = { VOXGATE_DATA_DIRECTORY: accounts.directory, VOXGATE_NODE_ID: 'standby' };
      const waiting = await voxgateProcess(['serve'], {
        VOXGATE_PORT: '0',
        VOXGATE_SECRET: SECRET,
        VOXGATE_NATS: cluster.nats.url,
        VOXGATE_ROLES: 'accounts',
        ...env,
      });
      expect(waiting).toMatchObject({ code: TEMPORARY, output: expect.stringContaining('waiting for the accounts') });
      expect(hopeless.split(' ').map(Number)).not.toContain(waiting.code);
      const standby = cluster.add('standby', { roles: 'accounts', env });
      const talker = await Talker.begin({ url: cluster.node('edge').url, key: cluster.key, seconds: 4 });
      await accounts.end('SIGKILL');
      await standby;
      expect(await talker.finish()).toMatchObject({ reason: 'client_closed' });
      await (await standby).logged('usage is settled', ({ sessionId }) => sessionId === talker.sessionId);
    },
    6 * NODE_START_MS,
  );
});
