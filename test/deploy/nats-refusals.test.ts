// deploy/nats/nats-server.conf on a real nats-server: what a role may not say or hear, and whom nodes and server do not believe.
import { connect, type NatsConnection, type Status } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { natsServerIsHere, startNatsServer } from '../fakes/network/nats-server.ts';
import { certificate, type DeployedNats, passwordOf, startDeployedNats, USERS, type User } from './nats-rig.ts';

// The fake says what is missing; under CI that is a failure.
describe.skipIf(!natsServerIsHere)('deploy/nats/nats-server.conf', () => {
  let nats: DeployedNats;
  beforeAll(async () => {
    nats = await startDeployedNats();
  });
  afterAll(() => nats.server.stop());

  describe('refusals', () => {
    const open: NatsConnection[] = [];
    afterAll(() => Promise.all(open.map((connection) => connection.close())));

    const stranger = async (user: User) => {
      const connection = await connect({
        servers: `127.0.0.1:${nats.server.port}`,
        user,
        pass: passwordOf(user),
        tls: { caFile: nats.caFile },
      });
      open.push(connection);
      return connection;
    };
    const refusal = async (connection: NatsConnection, attempt: () => void): Promise<Status | undefined> => {
      const statuses = connection.status();
      attempt();
      await connection.flush();
      // What follows the answer to that is something else.
      setImmediate(() => void connection.reconnect());
      for await (const status of statuses) if (status.type === 'error' || status.type === 'disconnect') return status;
      return undefined;
    };
    const EVERYBODY = USERS;
    const NOT_ACCOUNTS = ['edge', 'upstream'] as const;

    const publishes = (users: readonly User[], subjects: readonly string[]) =>
      users.flatMap((user) => subjects.map((subject): [User, string] => [user, subject]));

    it.each([
      ...publishes(EVERYBODY, [
        '$JS.API.STREAM.DELETE.voxgate-usage',
        '$JS.API.STREAM.PURGE.voxgate-usage',
        '$JS.API.STREAM.MSG.DELETE.voxgate-usage',
        '$JS.API.STREAM.MSG.GET.voxgate-usage',
        '$JS.API.STREAM.CREATE.other',
        '$JS.API.STREAM.DELETE.voxgate-job-audio',
        '$JS.API.STREAM.DELETE.KV_voxgate-leases',
        '$JS.API.STREAM.PURGE.KV_voxgate-leases',
        '$JS.API.CONSUMER.DELETE.voxgate-usage.shard-0',
        '$JS.API.STREAM.RESTORE.voxgate-usage',
        '$KV.other.node.1',
        '$SYS.REQ.SERVER.PING',
        'other.v1.t.key.revoked',
        'voxgate.v2.t.key.revoked',
        '_INBOX.anybody',
      ]),
      ...publishes(NOT_ACCOUNTS, [
        '$KV.voxgate-leases.accounts.0',
        '$KV.voxgate-records.ledger.0',
        '$JS.API.CONSUMER.MSG.NEXT.voxgate-usage.shard-0',
        '$JS.API.CONSUMER.DURABLE.CREATE.voxgate-usage.shard-0',
        '$JS.API.STREAM.UPDATE.voxgate-usage',
        '$JS.ACK.voxgate-usage.shard-0.1.1.1.1.1',
        'voxgate.v1.usage-refused.0',
        'voxgate.v1.s.operator.0',
        'voxgate.v1.n.abc123.s.operator.0',
        'voxgate.v1.n.abc123.s.operator.replica',
      ]),
      ...publishes(
        ['operator'],
        [
          ...['voxgate.v1.accounts.0', 'voxgate.v1.usage.0', 'voxgate.v1.t.key.revoked', 'voxgate.v1.t.accounts.open'],
          ...['$KV.voxgate-leases.node.1', '$KV.voxgate-records.ledger.0', '$JS.API.STREAM.DELETE.voxgate-accounts-0'],
        ],
      ),
      ...publishes(['upstream'], ['voxgate.v1.usage.0', 'voxgate.v1.s.limits.places', 'voxgate.v1.t.key.revoked']),
      ...publishes(['accounts'], ['voxgate.v1.usage.0']),
      ...publishes(['accounts', 'upstream'], ['voxgate.v1.job-audio.a.0', '$JS.API.STREAM.PURGE.voxgate-job-audio']),
    ])('cover publishing by %s to %s', async (user, subject) => {
      const connection = await stranger(user);
      expect(await refusal(connection, () => connection.publish(subject))).toMatchObject({
        type: 'error',
        error: { operation: 'publish', subject },
      });
    });

    it.each(
      publishes(EVERYBODY, [
        '>',
        'voxgate.>',
        'voxgate.v1.usage.*',
        '$JS.>',
        '$KV.>',
        '_INBOX.>',
        'voxgate.v1.s.accounts.0',
      ]),
    )('cover subscribing by %s to %s', async (user, subject) => {
      const connection = await stranger(user);
      const listen = () => void connection.subscribe(subject, { callback: () => {} });
      expect(await refusal(connection, listen)).toMatchObject({
        type: 'error',
        error: { operation: 'subscription', subject },
      });
    });

    it.each<[string, object, RegExp]>([
      ['nobody', { user: undefined, password: undefined }, /Authorization/i],
      ['a wrong password', { password: 'edge-passwort' }, /Authorization/i],
      ['an unknown user', { user: 'root' }, /Authorization/i],
    ])('cover a node with %s', async (_, options, why) => {
      // The server takes its time for a password, and a busy machine more.
      const opening = nats.open('edge', { startMs: 4_000, ...options });
      await expect(opening).rejects.toThrow(why);
      await expect(opening).rejects.not.toThrow(/passwor[dt]/);
    });
  });

  it('fails for a node that lacks its authority, or expects another machine', async () => {
    const other = certificate(nats.directory, 'other').certFile;
    await expect(nats.open('edge', { caFile: other, startMs: 800 })).rejects.toThrow(/let no node in.*certificate/);
    await expect(nats.open('edge', { caFile: undefined, startMs: 800 })).rejects.toThrow(/let no node in.*certificate/);
    const elsewhere = `tls://127.0.0.2:${nats.server.port}`;
    await expect(nats.open('edge', { servers: [elsewhere], startMs: 800 })).rejects.toThrow(/let no node in/);
    const byName = await nats.open('edge', { servers: [`tls://localhost:${nats.server.port}`] });
    expect(byName.isConnected).toBe(true);
    await byName.close();
  });

  it('sends nothing to a server without TLS at a tls:// address', async () => {
    const plain = await startNatsServer();
    const servers = [`tls://127.0.0.1:${plain.port}`];
    const opening = nats.open('edge', { servers, caFile: undefined, startMs: 800 });
    await expect(opening).rejects.toThrow(/let no node in.*tls/i);
    await plain.stop();
  });
});
