// What the console tells of all organisations together, and to whom.
import { beforeAll, describe, expect, test } from 'vitest';
import type { MachinesView } from '../../../../src/api/console/console.ts';
import { operatorRoutes } from '../../../../src/edge/routes/console/live/operator.ts';
import { MachineCounter } from '../../../../src/session/watch/machine-counts.ts';
import { type Browser, openAccount, openConsoleRig, storeOver } from '../../../accounts/console-rig.ts';
import { SessionRig } from '../../../fakes/session-rig.ts';
import { ledgerRig } from '../../../fakes/store/ledger.ts';

const live = new SessionRig();
let operator: Browser;
let other: Browser;
beforeAll(async () => {
  const ledger = ledgerRig();
  ledger.clock.nowMs = Date.now();
  const store = storeOver(ledger);
  const machines = new MachineCounter({ bus: live.bus, nodes: () => [], nowMs: () => live.clock.now() });
  const countMachines = () => machines.count();
  const rig = await openConsoleRig({
    store,
    further: [(consoleRoute) => operatorRoutes(consoleRoute, { store, countMachines })],
  });
  operator = await openAccount(rig, 'operator@example.com');
  other = await openAccount(rig, 'other@example.com');
  // Whose organisation has the first key is who runs the gateway.
  for (const browser of [operator, other]) await browser.call('POST', 'keys', { name: 'own' });
});

const view = async <View>(path: string): Promise<View> =>
  (await operator.get(`/console/api/${path}`)).json() as unknown as View;

describe('the counts of actors', () => {
  const states = async () => (await view<MachinesView>('machines')).states;

  test('have a live session of any organisation in the states in which it is, until it ends', async () => {
    expect(await states()).not.toHaveProperty('session');
    const client = await live.open();
    await live.advance(1_500);
    expect(await states()).toMatchObject({ session: 1, 'session.live.link.streaming': 1, upstream: 1 });
    client.session.control({ type: 'close' });
    await live.advance(20_000);
    await client.ended();
    expect(await states()).not.toHaveProperty('session');
  });
});

describe('what is told of all organisations', () => {
  test.each(['machines'])('%s: to members of the gateway’s own only', async (path) => {
    const { status, code, text } = await other.get(`/console/api/${path}`);
    expect([status, code]).toEqual([403, 'operator_only']);
    expect(text).toContain('the gateway’s own first organisation');
    expect((await operator.get(`/console/api/${path}`)).status).toBe(200);
    expect((await operator.get(`/console/api/${path}?colour=red`)).code).toBe('invalid_request');
  });
});
