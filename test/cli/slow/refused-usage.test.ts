// `voxgate usage refused`: what the ledger refused is listed with what it would have cost, and removed one by one or all at once.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openNatsBus } from '../../../src/cluster/bus/nats/bus.ts';
import { natsUsage } from '../../../src/cluster/bus/nats/jetstream/usage-stream.ts';
import { usageBody, usageId, usageKeys } from '../../../src/money/ledger/usage-stream.ts';
import { type NatsServer, natsServerIsHere, startNatsServer } from '../../fakes/network/nats-server.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { endOf, headOf, lineOf } from '../../fakes/store/ledger.ts';

const SECRET = { VOXGATE_SECRET: 'what-all-nodes-of-a-gateway-have-in-common' };
const SECRETS = { secret: Buffer.from(SECRET.VOXGATE_SECRET) };
const WHO = { organisationId: 'org_unknown', keyId: 'key_unknown' };
let server: NatsServer;
const refused = (...args: string[]) => voxgate(['usage', 'refused', ...args], { VOXGATE_NATS: server.url, ...SECRET });

// Skipped without the program; under CI that fails.
describe.skipIf(!natsServerIsHere)('voxgate usage refused', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    server = await startNatsServer({ jetStream: true });
  });
  afterAll(() => server.stop());

  it('says that nothing was refused, also where there is no stream yet', async () => {
    expect(await refused()).toEqual({ code: 0, output: 'No usage was refused.\n', errors: '' });
  });

  it('lists what was refused, and removes it', async () => {
    const bus = await openNatsBus({ secrets: SECRETS, servers: [server.url], prefix: 'voxgate', startMs: 10_000 });
    const usage = natsUsage(bus);
    const keys = usageKeys(SECRETS);
    for (const id of ['ses_1', 'ses_2', 'ses_3']) {
      const head = headOf(WHO, id);
      await usage.publish('0', usageId(head), usageBody(keys, head, endOf([lineOf(60_000)])));
    }
    await usage.publish('0', 'foreign', { type: 'not of this gateway' });
    let left = 4;
    await new Promise<void>((resolve) => {
      const detach = usage.consume('0', async () => {
        if (--left === 0) {
          detach();
          resolve();
        }
        return 'never';
      });
    });
    while ((await usage.putAside('0')) !== 4);
    await bus.close();

    const { output } = await refused();
    expect(output).toMatch(/NUMBER +PUT ASIDE +SESSION +ORGANISATION +MODEL +COST, USD/);
    expect(output).toMatch(/ses_2 +org_unknown +\S+ +0\.06/);
    expect(output).toMatch(/unreadable: not written by a node of this gateway/);
    const json = (await refused('--json')).output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const sessions = json.map(({ session, costUsd }) => [session, costUsd]);
    expect(sessions).toHaveLength(4);
    expect(sessions).toContainEqual(['ses_3', '0.06']);
    const { number } = json.find(({ session }) => session === 'ses_2');
    expect(await refused('--clear', String(number))).toMatchObject({ code: 0, output: '1 message was removed.\n' });
    expect(await refused('--clear', String(number))).toMatchObject({
      code: 1,
      errors: `voxgate: there is no refused usage with the number ${number}.\n`,
    });
    expect((await refused('--clear', 'some')).code).toBe(64);
    expect((await refused()).output).not.toContain('ses_2');
    expect((await refused('--clear', 'all')).output).toBe('3 messages were removed.\n');
    expect((await refused()).output).toBe('No usage was refused.\n');
  });
});
