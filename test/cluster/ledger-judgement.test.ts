// Which ledger is the right one, what is noted of it, and what a node that asks remembers. On real processes: ledger-identity.test.ts.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { BusError } from '../../src/cluster/bus/bus.ts';
import type { FoundRecord } from '../../src/cluster/bus/nats/jetstream/records.ts';
import { judgeLedger, LedgerRecord, RememberedLedger, readIdentity } from '../../src/cluster/known-ledger.ts';
import { directStore } from '../fakes/store/direct-store.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { accountsRig, reasonOf } from './accounts-rig.ts';

const [A, B, C] = ['a', 'b', 'c'].map((digit) => `led_${digit.repeat(24)}`) as [string, string, string];
const ledger = (id: string, generation = 1, sequence = 0, replaces: string | null = null) => ({
  id,
  generation,
  sequence,
  replaces,
});

test.each([
  ['the first that is seen', ledger(A), undefined, 'right'],
  ['the same', ledger(A, 1, 7), ledger(A, 1, 7), 'right'],
  ['the same, further on', ledger(A, 1, 8), ledger(A, 1, 7), 'right'],
  ['an older copy', ledger(A, 1, 6), ledger(A, 1, 7), 'older'],
  ['an older copy that was restored', ledger(A, 2, 6), ledger(A, 1, 7), 'right'],
  ['what was there before that was restored', ledger(A, 1, 9), ledger(A, 2, 6), 'older'],
  ['another one', ledger(B), ledger(A), 'other'],
  ['another one that is further on, and was restored', ledger(B, 9, 9), ledger(A), 'other'],
  ['another one that was accepted in its place', ledger(B, 2, 0, A), ledger(A, 1, 7), 'right'],
  ['another one that was accepted in the place of a third', ledger(B, 2, 0, C), ledger(A, 1, 7), 'other'],
  ['one that was replaced, and has replaced the other before', ledger(B, 2, 0, A), ledger(A, 3, 7), 'other'],
] as const)('%s is judged', (_, found, known, judged) => {
  expect(judgeLedger(found, known)).toBe(judged);
});

test('rejects an invalid identity', () => {
  expect(readIdentity({ ...ledger(A), more: 1 })).toEqual(ledger(A));
  for (const wrong of [null, 'led', {}, { id: A }, ledger('led_1'), ledger(A, -1), { ...ledger(A), replaces: 7 }]) {
    expect(readIdentity(wrong)).toBeUndefined();
  }
});

/** Records in memory, of one gateway. */
function memoryRecords() {
  const state: { found: FoundRecord | undefined; isAway: boolean; writings: number } = {
    found: undefined,
    isAway: false,
    writings: 0,
  };
  const here = () => {
    if (state.isAway) throw new BusError('disconnected', 'NATS is not connected.');
  };
  return {
    state,
    async read() {
      here();
      return state.found;
    },
    async write(_: string, value: Readonly<Record<string, unknown>>, over: number) {
      here();
      if (over !== (state.found?.sequence ?? 0)) return undefined;
      state.found = { value, sequence: over + 1 };
      state.writings++;
      return over + 1;
    },
  };
}

const settled = async () => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
};

describe('the recorded position of the ledger', () => {
  function begin(records = memoryRecords(), { store } = directStore()) {
    const clock = new SimulatedClock();
    const faults: unknown[] = [];
    const onFault = (error: unknown) => faults.push(error);
    const record = new LedgerRecord({ records, store, clock, shard: '0', directory: '/data', onFault });
    return { records, store, clock, faults, record };
  }

  it('follows it within five seconds, is not written when nothing was, and once more at the end', async () => {
    const { records, store, clock, record } = begin();
    await record.admit();
    const { id } = await store.findLedger();
    expect(records.state.found?.value).toEqual({ id, generation: 1, sequence: 0 });
    record.keep();
    const pass = async () => {
      clock.increment(5_000);
      await settled();
    };
    await pass();
    const { writings } = records.state;
    for (let time = 0; time < 10; time++) await pass();
    expect(records.state.writings).toBe(writings);
    await store.createOrganisation('Acme', null, { type: 'operator', id: 'test' });
    await pass();
    expect(records.state.found?.value).toMatchObject({ sequence: (await store.findLedger()).sequence });
    await store.createOrganisation('Other', null, { type: 'operator', id: 'test' });
    await record.close();
    expect(records.state.found?.value).toMatchObject({ sequence: (await store.findLedger()).sequence });
    await pass();
    expect(records.state.writings).toBe(writings + 2);
  });

  it('waits for NATS, is reported once, and continues after a lost answer', async () => {
    const { records, store, clock, record, faults } = begin();
    await record.admit();
    record.keep();
    records.state.isAway = true;
    for (let time = 0; time < 3; time++) {
      clock.increment(5_000);
      await settled();
    }
    expect(faults).toHaveLength(1);
    records.state.isAway = false;
    records.state.found = { value: records.state.found!.value, sequence: 9 };
    for (let time = 0; time < 2; time++) {
      clock.increment(5_000);
      await settled();
    }
    expect(records.state.found.value).toMatchObject({ sequence: (await store.findLedger()).sequence });
  });

  it('stays safe from a ledger that was overtaken', async () => {
    const { records, clock, record } = begin();
    await record.admit();
    record.keep();
    const other = { value: { id: B, generation: 2, sequence: 0 }, sequence: 9 };
    records.state.found = other;
    for (let time = 0; time < 3; time++) {
      clock.increment(5_000);
      await settled();
    }
    expect(records.state.found).toBe(other);
    await expect(record.admit()).rejects.toThrow(`and the one of this gateway is ${B}`);
  });

  it('accepts another ledger when a person has ordered it', async () => {
    const records = memoryRecords();
    records.state.found = { value: { id: B, generation: 1, sequence: 7 }, sequence: 1 };
    const { record, store } = begin(records);
    await expect(record.admit()).rejects.toThrow(`run \`voxgate ledger accept ${B}\` on it`);
    await store.acceptLedger(B);
    await record.admit();
    expect(records.state.found?.value).toMatchObject({ id: (await store.findLedger()).id });
  });
});

describe('a node without the ledger', () => {
  const begin = (file = join(temporaryDirectory(), 'data', 'ledger')) => {
    const faults: unknown[] = [];
    return { file, faults, remembered: new RememberedLedger(file, (error) => faults.push(error)) };
  };

  it('remembers the first ledger for good, for itself alone, and asks no other', () => {
    const { file, remembered } = begin();
    expect(remembered.faultOf(ledger(A))).toBeUndefined();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const sentence = `has the ledger ${B}, and this node knows ${A}: nothing is asked of it.`;
    expect(remembered.faultOf(ledger(B))).toContain(sentence);
    expect(begin(file).remembered.faultOf(ledger(B))).toContain(`or remove ${file} here`);
    expect(remembered.faultOf(ledger(A, 5))).toBeUndefined();
    expect(remembered.faultOf(ledger(A, 4))).toContain('an older copy');
    expect(begin(file).remembered.faultOf(ledger(B, 6, 0, A))).toBeUndefined();
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ id: B, generation: 6 });
  });

  it('owes its usage history to each new generation, also after a restart, until it was sent', () => {
    const { file, remembered } = begin();
    const due: number[] = [];
    const listening = (each: RememberedLedger) => each.onHistoryDue((generation) => due.push(generation));
    listening(remembered);
    remembered.faultOf(ledger(A, 1));
    remembered.faultOf(ledger(A, 1));
    expect(due).toEqual([1]);
    remembered.historySent(1);
    listening(begin(file).remembered);
    expect(due).toEqual([1]);
    remembered.faultOf(ledger(A, 2));
    // It was on its way to the ledger before.
    remembered.historySent(1);
    const again = begin(file).remembered;
    listening(again);
    expect(due).toEqual([1, 2, 2]);
    again.historySent(2);
    listening(begin(file).remembered);
    expect(due).toEqual([1, 2, 2]);
    // A file of an earlier version owes nothing.
    writeFileSync(file, JSON.stringify({ id: A, generation: 2, sequence: 0 }));
    listening(begin(file).remembered);
    expect(due).toEqual([1, 2, 2]);
  });

  it('continues where the file cannot be written, and refuses to start with an empty one', () => {
    const { file, remembered, faults } = begin(join(temporaryDirectory(), 'ledger'));
    // In the place of what is written first.
    mkdirSync(`${file}.${process.pid}`);
    expect([remembered.faultOf(ledger(A)), remembered.faultOf(ledger(A)), faults.length]).toEqual([
      undefined,
      undefined,
      1,
    ]);
    expect(remembered.faultOf(ledger(B))).toContain(file);
    const broken = join(temporaryDirectory(), 'ledger');
    writeFileSync(broken, '{"id":7}');
    expect(() => begin(broken)).toThrow(`${broken} does not say which ledger this node knows: remove it`);
  });

  it('checks the ledger of each epoch, does nothing under a foreign one, and reports it once', async () => {
    const told: string[] = [];
    let fault: string | undefined;
    const seen: unknown[] = [];
    const rig = accountsRig({
      service: { ledger: ledger(A, 3) },
      client: {
        faultOf: (found) => {
          seen.push(found);
          return fault;
        },
        onForeign: (sentence) => told.push(sentence),
      },
    });
    const asked = () => rig.store.findKeyByHash(new Uint8Array(32));
    expect(await rig.client.greet()).toBeUndefined();
    await asked();
    expect(seen).toEqual([ledger(A, 3), ledger(A, 3)]);
    await rig.service.stop();
    rig.serve({ ledger: ledger(B) });
    fault = 'Another ledger.';
    for (let time = 0; time < 2; time++) expect(await reasonOf(asked())).toBe('unreachable');
    expect([told, await rig.client.greet()]).toEqual([['Another ledger.'], 'Another ledger.']);
    fault = undefined;
    expect(await asked()).toBeUndefined();
    // One of a version before this says nothing of its ledger.
    rig.serve();
    await asked();
    expect(rig.refused.filter((reason) => reason !== 'epoch')).toEqual([]);
  });
});
