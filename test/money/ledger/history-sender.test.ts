// A node sends its usage history to a restored ledger: everything, again after a failure, and from the beginning to a newer ledger.
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { History } from '../../../src/money/ledger/history/history.ts';
import { HistoryReport, HistorySender } from '../../../src/money/ledger/history/history-sender.ts';
import { consumeUsage, historyId, usageBody, usageKeys } from '../../../src/money/ledger/usage-stream.ts';
import type { SessionHead } from '../../../src/money/store/calls.ts';
import { seeded } from '../../fakes/random.ts';
import { directStore } from '../../fakes/store/direct-store.ts';
import { endOf, headOf, lineOf } from '../../fakes/store/ledger.ts';
import { MemoryUsageStream } from '../../fakes/store/memory-usage-stream.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const SESSIONS = 100;
const keys = usageKeys({ secret: Buffer.from('a secret of the tests of usage histories') });
const LINES = [lineOf(60_000)];

async function historyOf(who: Pick<SessionHead, 'organisationId' | 'keyId'>): Promise<string> {
  const directory = join(temporaryDirectory(), 'usage');
  for (const day of ['2026-11-20', '2026-11-21']) {
    const wallNow = () => new Date(`${day}T12:00:00Z`);
    const history = new History({
      directory,
      days: 14,
      wallNow,
      onFault: (error) => expect.unreachable(String(error)),
    });
    for (let index = 0; index < SESSIONS / 2; index++) history.note(headOf(who, `ses_${day}_${index}`), endOf(LINES));
    await history.close();
  }
  return directory;
}

async function rig() {
  const clock = new SimulatedClock();
  const direct = directStore();
  const who = direct.customer({ limit: null });
  const stream = new MemoryUsageStream(seeded(1));
  const state = { isAway: false, after: Number.POSITIVE_INFINITY, sends: 0 };
  const sent: [number, number][] = [];
  const faults: unknown[] = [];
  const sender = new HistorySender({
    directory: await historyOf(who),
    clock,
    async send(head, end, generation) {
      state.sends++;
      if (state.isAway || state.sends > state.after) throw new Error('The stream is away.');
      await stream.publish('0', historyId(head, generation), usageBody(keys, head, end, true));
    },
    onSent: (generation, sessions) => sent.push([generation, sessions]),
    onFault: (error) => faults.push(error),
  });
  const reports: unknown[] = [];
  const report = new HistoryReport(clock, (counts) => reports.push(counts));
  const consumed: string[] = [];
  consumeUsage({
    usage: stream,
    shard: '0',
    store: direct.store,
    keys,
    onSettled: ({ id }) => consumed.push(id),
    onHistory: (outcome) => report.note(outcome),
    onFault: (name) => faults.push(name),
  });
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) {
      await stream.hand();
      await setImmediate();
    }
  };
  return { ...direct, clock, sender, state, sent, faults, who, stream, report, reports, consumed, until };
}

describe('a node with a usage history', () => {
  test('sends it to a new generation of the ledger, which settles what it lacks, once', async () => {
    const { sender, sent, stream, ledger, who, until, consumed, clock, reports, faults } = await rig();
    const known = headOf(who, 'ses_2026-11-20_0');
    ledger.settleSession(known, endOf(LINES));
    sender.begin(2);
    sender.begin(2);
    await until(() => sent.length > 0 && consumed.length === SESSIONS - 1);
    expect(sent).toEqual([[2, SESSIONS]]);
    sender.begin(3);
    await until(() => sent.length === 2);
    while ((await stream.waiting()) > 0) await stream.hand();
    await setImmediate();
    clock.increment(2_000);
    expect(reports).toEqual([{ sessions: 2 * SESSIONS, added: SESSIONS - 1, refused: 0 }]);
    expect(ledger.auditLedger()).toMatchObject({ ok: true, sessions: SESSIONS });
    expect(faults).toEqual([]);
  });

  test('sends all of it again when some of it could not be sent', async () => {
    const { sender, sent, state, until, clock, faults, ledger } = await rig();
    state.after = 40;
    sender.begin(2);
    await until(() => faults.length > 0);
    state.after = Number.POSITIVE_INFINITY;
    clock.increment(1_000);
    await until(() => sent.length > 0);
    expect([sent, faults.length]).toEqual([[[2, SESSIONS]], 1]);
    await until(() => ledger.auditLedger().sessions === SESSIONS);
  });

  test('begins again when the ledger is replaced while it sends', async () => {
    const { sender, sent, until, clock } = await rig();
    sender.begin(2);
    sender.begin(3);
    await until(() => {
      clock.increment(1);
      return sent.length > 0;
    });
    expect(sent).toEqual([[3, SESSIONS]]);
  });

  test('stops when the node ends', async () => {
    const { sender, sent, state, clock } = await rig();
    sender.begin(2);
    sender.close();
    await setImmediate();
    const { sends } = state;
    clock.increment(120_000);
    await setImmediate();
    expect([sent, state.sends === sends]).toEqual([[], true]);
  });
});

test('counts a session of an unknown organisation, and leaves it with its node', async () => {
  const { stream, report, reports, faults, until } = await rig();
  const stranger = headOf({ organisationId: 'org_unknown', keyId: 'key_unknown' }, 'ses_stranger');
  await stream.publish('0', historyId(stranger, 2), usageBody(keys, stranger, endOf(LINES), true));
  await until(() => {
    report.close();
    return reports.length > 0;
  });
  expect([reports, faults, stream.refused]).toEqual([[{ sessions: 1, added: 0, refused: 1 }], [], []]);
});
