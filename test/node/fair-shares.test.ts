// Each resource that organisations share, as the page "Fair shares" lists them: one organisation that takes all it can leaves room for others.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { BLOCK_BYTES } from '../../src/audio/tape/blocks.ts';
import { FileSpools } from '../../src/audio/tape/spool.ts';
import type { SharedObjects } from '../../src/cluster/bus/shared-objects.ts';
import { LengthMeter } from '../../src/files/measuring/length-meter.ts';
import type { Form } from '../../src/http/multipart/form.ts';
import { FormMemory } from '../../src/http/multipart/form-fields.ts';
import { SpoolBudget } from '../../src/http/multipart/spool-file.ts';
import { JOB_LIMITS, OWN_DIALECT } from '../../src/jobs/calls.ts';
import { KeptFiles } from '../../src/jobs/kept-files.ts';
import { SharedAudio } from '../../src/jobs/shared-audio.ts';
import { createJobTables } from '../../src/jobs/tables.ts';
import { watcherSeats } from '../../src/live/calls/watch-call.ts';
import { OpusPlaces } from '../../src/live/pace/coded-messages.ts';
import { SocketPaces } from '../../src/live/pace/socket-pace.ts';
import { InFlightChunks } from '../../src/live/resume/relay/client-end.ts';
import { PART_BYTES } from '../../src/live/resume/relay/relay-link.ts';
import { streamPlaces } from '../../src/live/routes/session-events.ts';
import { WaitingWork } from '../../src/live/socket/socket-work.ts';
import { HttpPools } from '../../src/live/upstream/http/pools.ts';
import { Quota } from '../../src/runtime/limits/quota.ts';
import { createPieceTables } from '../../src/store/pieces.ts';
import { settle } from '../fakes/session-rig.ts';
import { ledgerRig } from '../fakes/store/ledger.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

/** Takes some of the resource for an organisation, or returns false. */
type Take = (organisationId: string) => boolean | Promise<boolean>;

const UNITS = 64;
const BYTES = 1_000;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const takes = (take: () => void): boolean => {
  try {
    take();
    return true;
  } catch {
    return false;
  }
};

function liveAudio(): Take {
  const spools = new FileSpools({ directory: temporaryDirectory(), quota: new Quota(UNITS), onFault: () => {} });
  return (organisationId) => {
    const spool = spools.open(organisationId);
    closing.push(() => spool.close());
    return spool.put(new Uint8Array(BLOCK_BYTES));
  };
}

function uploads(): Take {
  const quota = new Quota(UNITS * BYTES);
  return (organisationId) => takes(() => new SpoolBudget(quota, organisationId).take(BYTES));
}

function forms(): Take {
  const quota = new Quota(UNITS * BYTES);
  return (organisationId) => new FormMemory(quota, organisationId).take(BYTES) === undefined;
}

function opusDecoders(): Take {
  const places = new OpusPlaces(8);
  return (organisationId) =>
    places.open(organisationId, 16_000).then(
      (decoder) => closing.push(() => decoder.free()) > 0,
      () => false,
    );
}

function callWatchers(): Take {
  const seats = watcherSeats();
  return (organisationId) => seats.take(organisationId) === undefined;
}

function keptFiles(): Take {
  const clock = new SimulatedClock();
  const files = new KeptFiles({
    node: 'abc123',
    clock,
    wallNow: () => new Date(0),
    spoolQuota: new Quota(UNITS * BYTES),
  });
  closing.push(() => files.close());
  return (organisationId) =>
    files
      .keep({ organisationId, keyId: `key_of_${organisationId}`, dialect: 'soniox' }, async (budget) => {
        budget.take(BYTES);
        return { fields: [], file: { filename: 'a.wav', size: BYTES }, dispose: () => {} } as unknown as Form;
      })
      .then(
        () => true,
        () => false,
      );
}

function sharedJobAudio(): Take {
  const audio = new SharedAudio({
    ...{ objects: {} as SharedObjects, clock: new SimulatedClock(), bytesMax: UNITS * BYTES, fileBytesMax: BYTES },
    ...{ onUnshared: () => {}, onFault: () => {} },
  });
  return (organisationId) => audio.take(organisationId, BYTES) === undefined;
}

function waitingMessages(): Take {
  const waiting = new WaitingWork(UNITS * BYTES);
  return (organisationId) =>
    waiting.shortage(organisationId, BYTES) === undefined && waiting.count(BYTES, organisationId);
}

const paces = () =>
  new SocketPaces({
    socketFramesPerSecondMax: 1_000,
    socketBytesPerSecondMax: 1_000_000,
    socketMessagesPerSecondMax: 50,
    organisationFramesPerSecondMax: 1_000,
    organisationMessagesPerSecondMax: 1_000,
    largeMessagesMax: 8,
    largeMessageSocketsMax: 8,
  });

function relayedParts(): Take {
  const parts = new InFlightChunks();
  return (organisationId) => parts.take(PART_BYTES, { organisationId, goOn: () => {} });
}

function largeMessages(): Take {
  const all = paces();
  return (organisationId) => all.open(organisationId, () => {}).enter(() => {});
}

function largeSockets(): Take {
  const all = paces();
  return (organisationId) => all.open(organisationId, () => {}).mayBeLarge();
}

function measuredFiles(): Take {
  const meter = new LengthMeter({ clock: new SimulatedClock() });
  closing.push(() => meter.close());
  const file = { size: BYTES, readAt: () => new Promise<Uint8Array>(() => {}) };
  return async (organisationId) => {
    let isRefused = false;
    meter.measure(file, organisationId).catch(() => {
      isRefused = true;
    });
    await settle();
    return !isRefused;
  };
}

function providerConnections(): Take {
  const pools = new HttpPools({ connectionsMax: UNITS / 2, waitingMax: UNITS / 2 });
  closing.push(() => pools.close());
  return (organisationId) => pools.enter('http://127.0.0.1:9', organisationId) !== undefined;
}

function unfinishedJobs(): Take {
  const { database, clock, customer } = ledgerRig();
  const context = { database, nowMs: () => clock.nowMs };
  const store = { jobs: UNITS, bytes: 1e9 };
  const tables = createJobTables(context, createPieceTables(context), { ...JOB_LIMITS, store });
  const customers = new Map<string, ReturnType<typeof customer>>();
  return (name) => {
    const who = customers.get(name) ?? customer();
    customers.set(name, who);
    const isRoom = tables.findJobShortage(who.organisationId) === undefined;
    const job = { ...who, dialect: OWN_DIALECT, id: randomUUID(), stage: 'queued', node: 'a', nodeName: 'a' } as const;
    return isRoom && tables.createJob({ ...job, request: new Uint8Array(1) }, 60_000).state === 'created';
  };
}

function eventStreams(): Take {
  const places = streamPlaces();
  return (organisationId) => places.take(organisationId) === undefined;
}

/** By the beginning of their rows. */
const RESOURCES: [string, () => Take][] = [
  ['disk for live audio', liveAudio],
  ['disk for uploads', uploads],
  ['disk for kept files', keptFiles],
  ['audio of unfinished jobs', sharedJobAudio],
  ['memory for Opus', waitingMessages],
  ['parts of messages', relayedParts],
  ['messages over 1 MiB', largeMessages],
  ['sockets that may send such messages', largeSockets],
  ['files whose length', measuredFiles],
  ['connections to a provider', providerConnections],
  ['event streams', eventStreams],
  ['[jobs](../guides/jobs.md) that are not over', unfinishedJobs],
  ['memory for forms', forms],
  ['Opus decoders', opusDecoders],
  ['sockets that hear telephone calls', callWatchers],
];
/** Rows whose tests need more: `coded-messages.test.ts`, `decoding.test.ts`, `hostile.test.ts`, `watch.test.ts` and `analyzer.test.ts`. */
const TESTED_ELSEWHERE = [
  'memory for bodies of requests',
  'time for decoding',
  'files that are decoded',
  'files that are checked',
  'files that are fetched',
  'lookups of their hosts',
  'calls to the service that finds names',
  'sessions that are watched',
];

/** How often an organisation is given some. */
async function takeAll(take: Take, organisationId: string): Promise<number> {
  let count = 0;
  while (count < 10_000 && (await take(organisationId))) count++;
  return count;
}

test.each(RESOURCES)('%s: an organisation that takes all it can leaves room for the next two', async (_, open) => {
  const take = open();
  const greedy = await takeAll(take, 'greedy');
  const second = await takeAll(take, 'second');
  expect(greedy).toBeGreaterThan(0);
  expect(greedy).toBeLessThan(10_000);
  expect(second).toBeGreaterThanOrEqual(Math.floor(greedy / 2));
  expect(second).toBeLessThanOrEqual(greedy);
  expect(await take('third')).toBe(true);
});

test.each(RESOURCES)('%s: two organisations that use a little are not refused', async (_, open) => {
  const take = open();
  for (let count = 0; count < 2; count++)
    for (const organisationId of ['a', 'b']) expect(await take(organisationId)).toBe(true);
});

test('covers every row of the page with a test', () => {
  const page = readFileSync(new URL('../../docs/operations/fair-shares.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| ([^|]+?) \|/gm)].map(([, name]) => name as string).slice(1);
  const names = [...RESOURCES.map(([name]) => name), ...TESTED_ELSEWHERE];
  expect(rows.filter((row) => !names.some((name) => row.startsWith(name)))).toEqual([]);
  expect(names.filter((name) => !rows.some((row) => row.startsWith(name)))).toEqual([]);
});
