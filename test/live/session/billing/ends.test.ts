// The promise that whatever the client does, audio that a provider was sent and answered for is billed, and no more: one table
// says what each end costs, and every end of a session is brought about here and compared with it.
import { describe, expect, it } from 'vitest';
import type { Heard } from '../../../../machines/events.ts';
import { apiError } from '../../../../src/api/errors.ts';
import { microUsdOf } from '../../../../src/config/prices/price.ts';
import {
  type AbortCode,
  type CutCharge,
  cutChargeOf,
  type OrderlyCode,
  SESSION_ENDS,
} from '../../../../src/live/session/billing/end-charges.ts';
import type { RigClient, RigOptions, SessionRig } from '../../../fakes/session-rig.ts';
import { MemoryLedger } from '../../../fakes/store/memory-ledger.ts';
import { failure, optionRefused, puppetRig, WITH_OPTION } from '../puppet.ts';
import { speech, untilEnded } from '../support.ts';

/** A cent a second. */
const PRICED = { pricing: { currency: 'USD', live: { unit: 'minute', amount: '0.6', byok: '0.00' } } } as const;
const SESSION_PRICED = {
  pricing: { currency: 'USD', live: { unit: 'session', amount: '0.15', byok: '0.00' } },
} as const;
const TIMING = { stallMs: Number.POSITIVE_INFINITY };
const HEARD = 12;

const final = (turnId: string, end: number, start = 0): Heard => ({
  type: 'turn.ended',
  turnId,
  formattedFollows: false,
  utterance: { text: 'a', start, end },
});
const partial = (turnId: string, end: number, start = 0): Heard => ({
  type: 'partial',
  turnId,
  utterance: { text: 'a', start, end },
});

interface Scene {
  rig: SessionRig;
  client: RigClient;
  ledger: MemoryLedger;
  puppet: ReturnType<typeof puppetRig>['puppet'];
}

/** A leg was sent twelve seconds: two have their final, and up to the tenth an interim was shown. */
async function scene({ rig: options = {}, card = PRICED }: { rig?: RigOptions; card?: object } = {}): Promise<Scene> {
  const ledger = options.ledger ?? new MemoryLedger(microUsdOf('100'));
  const { rig, puppet } = puppetRig({ timing: TIMING, card: card as typeof PRICED, rig: { ...options, ledger } });
  const client = await rig.open({ model: 'puppet/a', fallbacks: [], ...WITH_OPTION });
  client.session.audio(speech(HEARD));
  await rig.advance(2_000, 100);
  await puppet.last.say(final('1', 2), partial('2', 10, 2));
  return { rig, client, ledger, puppet };
}

/** What was told is what was settled, and for how many seconds. */
function billOf({ client, ledger }: Scene): { seconds: number; cost: string; code: string | null } {
  const end = client.of('session_ended')[0]!;
  const settled = [...ledger.settled.values()][0]!;
  const rows = settled.end.lines.map(({ model, audioMs }) => [model, audioMs / 1000]);
  expect(end.usage.map(({ model, seconds }) => [model, seconds])).toEqual(rows);
  expect(microUsdOf(end.cost_usd)).toBe(settled.costMicroUsd);
  expect([end.reason, settled.end.reason]).toEqual([settled.end.reason, end.reason]);
  const seconds = end.usage.reduce((sum, row) => sum + row.seconds, 0);
  return { seconds, cost: end.cost_usd, code: settled.end.code };
}

describe('an abort by the client', () => {
  it.each(['open', 'closing'])('bills what the leg was sent and works on, while the session is %s', async (phase) => {
    const set = await scene();
    if (phase === 'closing') set.client.session.control({ type: 'close' });
    set.client.session.abort('message_too_big', 'Too big.');
    await untilEnded(set.rig, set.client);
    expect(billOf(set)).toEqual({ seconds: HEARD, cost: '0.12', code: 'message_too_big' });
    expect(set.client.of('discontinuity')).toMatchObject([{ from: 2, to: HEARD }]);
  });

  it('bills a price of a session, also where no final came', async () => {
    const { rig, puppet } = puppetRig({
      timing: TIMING,
      card: SESSION_PRICED,
      rig: { ledger: new MemoryLedger(microUsdOf('1')) },
    });
    const client = await rig.open({ model: 'puppet/a', fallbacks: [] });
    client.session.audio(speech(HEARD));
    await rig.advance(1_000, 100);
    await puppet.last.say(partial('1', 10));
    client.session.abort('message_too_big', 'Too big.');
    await untilEnded(rig, client);
    expect(billOf({ rig, client, puppet, ledger: rig.ledger }).cost).toBe('0.15');
  });

  it('bills nothing of what no leg was sent', async () => {
    const { rig, puppet } = puppetRig({
      timing: TIMING,
      card: PRICED,
      rig: { ledger: new MemoryLedger(microUsdOf('1')) },
    });
    puppet.open = false;
    const client = await rig.open({ model: 'puppet/a', fallbacks: [] });
    client.session.audio(speech(HEARD));
    client.session.abort('message_too_big', 'Too big.');
    await untilEnded(rig, client);
    expect(billOf({ rig, client, puppet, ledger: rig.ledger })).toMatchObject({ seconds: 0, cost: '0.00' });
  });

  it('bills of a leg that has failed what it answered for, and not what it left unanswered', async () => {
    const set = await scene();
    set.puppet.open = false;
    await set.puppet.last.say({ type: 'failed', failure: failure('retry') });
    set.client.session.abort('message_too_big', 'Too big.');
    await untilEnded(set.rig, set.client);
    expect(billOf(set)).toMatchObject({ seconds: 10, cost: '0.10' });
  });

  it('never costs more than the balance covers', async () => {
    const ledger = new MemoryLedger(microUsdOf('0.125'));
    for (let round = 0; round < 4 && ledger.available! > microUsdOf('0.02'); round++) {
      const set = await scene({ rig: { ledger } });
      set.client.session.abort('message_too_big', 'Too big.');
      await untilEnded(set.rig, set.client);
    }
    expect(ledger.balance).toBeGreaterThanOrEqual(0n);
    expect(ledger.balance).toBeLessThan(microUsdOf('0.02'));
  });
});

it('does not bill audio that the bound on replays has dropped, although a leg had shown words of it', async () => {
  const { rig, puppet } = puppetRig({
    timing: TIMING,
    card: PRICED,
    rig: {
      settings: { replayMs: 10_000, replaySpoolMs: 0, idleMs: 100_000 },
      ledger: new MemoryLedger(microUsdOf('10')),
    },
  });
  const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] });
  client.session.audio(speech(30));
  await rig.advance(3_000, 100);
  await puppet.last.say(partial('1', 8));
  await puppet.last.say({ type: 'failed', failure: failure('next') });
  client.session.control({ type: 'close' });
  await puppet.last.say(final('1', 10), { type: 'finished' });
  expect(client.of('discontinuity')).toMatchObject([{ from: 0, to: 20, reason: 'replay_exceeded' }]);
  expect(client.of('session_ended')[0]?.usage).toMatchObject([{ model: 'puppet/b', seconds: 10 }]);
});

/** How an end that cuts a session short is brought about, where it is not an abort. */
const CUTS: Record<string, (set: Scene) => Promise<unknown>> = {
  session_too_long: async ({ client, rig }) => {
    client.session.control({ type: 'close' });
    // The leg never confirms its end, and each that follows it neither.
    for (let waited = 0; client.summary === undefined && waited < 20; waited++) await rig.advance(1_000, 500);
  },
  node_draining: async ({ client }) => client.session.cutOff(),
  internal_error: async ({ client }) => client.session.fault('test', new Error('A fault.')),
  upstream_failed: ({ puppet }) => puppet.last.say({ type: 'failed', failure: failure('account') }),
  upstream_exhausted: async ({ puppet, rig }) => {
    await puppet.last.say({ type: 'failed', failure: failure('retry') });
    await puppet.last.say({ type: 'failed', failure: failure('account') });
    await rig.advance(10_000, 100);
  },
  upstream_account: ({ puppet }) =>
    puppet.last.say({ type: 'failed', failure: { ...failure('account'), ownKey: 'Your key was refused.' } }),
  invalid_provider_params: ({ puppet }) => puppet.last.say({ type: 'failed', failure: optionRefused }),
};

describe('every end of the table', () => {
  const cuts = SESSION_ENDS.filter(({ cut }) => cut !== null);

  it.each(cuts.map((end) => [end.reason, end.code as AbortCode, end.cut] as const))(
    'bills %s, %s when cut short by %s, and reports it',
    async (reason, code, cut) => {
      const set = await scene({ rig: { settings: { longestMs: 8_000 } } });
      await (CUTS[code] ?? (async ({ client }: Scene) => client.session.abort(code, 'An end.')))(set);
      await untilEnded(set.rig, set.client);
      expect(set.client.summary).toMatchObject({ reason, code });
      expect(billOf(set)).toMatchObject({ seconds: { sent: HEARD, answered: 10, finals: 2 }[cut as CutCharge], code });
      expect(set.client.closeCode).toBe(apiError(code, '').closeCode);
      expect(set.client.events.at(-2)).toMatchObject({ type: 'error', error: { code } });
    },
  );

  it.each(SESSION_ENDS.filter(({ inOrder }) => inOrder).map(({ reason, code }) => [reason, code] as const))(
    'bills %s, %s, in order, for all audio transcribed, and reports it',
    async (reason, code) => {
      const set = await scene();
      if (code === null) set.client.session.control({ type: 'close' });
      else set.client.session.stop(reason, code as OrderlyCode, 'An end.');
      await set.puppet.last.say(final('2', HEARD, 2), { type: 'finished' });
      await untilEnded(set.rig, set.client);
      expect(billOf(set)).toEqual({ seconds: HEARD, cost: '0.12', code });
      expect(set.client.closeCode).toBe(code === null ? 1000 : apiError(code, '').closeCode);
      expect(set.client.of('discontinuity')).toEqual([]);
    },
  );

  it('appears in the table once; unlisted ends are billed as far as finals reach', () => {
    const names = SESSION_ENDS.map(({ reason, code }) => `${reason} ${code}`);
    expect(new Set(names).size).toBe(names.length);
    expect(cutChargeOf('error', 'not_found')).toBe('finals');
  });
});
