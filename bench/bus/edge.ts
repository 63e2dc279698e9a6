// Sessions in a process of their own for the bench of the bus: each is given audio in real time, and the time from the last
// audio of a turn to its final is noted. Their legs are in this process, or on another node.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ListenRequest } from '../../src/api/listen.ts';
import { FileSpools } from '../../src/audio/tape/spool.ts';
import { MemoryBus } from '../../src/cluster/bus/memory.ts';
import { openNatsBus } from '../../src/cluster/bus/nats/bus.ts';
import { createPriceList } from '../../src/config/prices/price-list.ts';
import { DialGate } from '../../src/live/failover/admission.ts';
import { Breakers } from '../../src/live/failover/breakers/breakers.ts';
import { resolveChain } from '../../src/live/failover/chain.ts';
import { SessionHost } from '../../src/live/session/host.ts';
import { LegService } from '../../src/live/upstream/service/leg-service.ts';
import { UpstreamHost } from '../../src/live/upstream/upstream-host.ts';
import { pricedMembers } from '../../src/money/ledger/meter-contract.ts';
import { Reservations } from '../../src/money/ledger/reservations.ts';
import { Quota } from '../../src/runtime/limits/quota.ts';
import { systemClock as clock } from '../../src/runtime/telemetry/clock.ts';
import { loopback } from '../../src/vendors/loopback/index.ts';
import { LoopbackEngine } from '../../src/vendors/loopback/simulator.ts';
import { SECRETS } from '../../test/fakes/secrets.ts';
import { MemoryLedger } from '../../test/fakes/store/memory-ledger.ts';

export interface EdgeOptions {
  /** Of NATS; absent: the legs are here. */
  url?: string;
  prefix: string;
  sessions: number;
  /** Of the client's frames. */
  frameMs: number;
}

export type EdgeOrder = 'begin' | 'end';
export interface EdgeReport {
  lateMs: number[];
  cpuMs: number;
  /** Sent and received. */
  natsMessages: number;
  /** Of all sessions: on a busy machine it is less than real time. */
  audioSeconds: number;
  errors: number;
}

const RATE = 16_000;
const TURN_MS = 2_000;
const MINUTE = 60_000;

const options = JSON.parse(process.argv[2] as string) as EdgeOptions;
const directory = mkdtempSync(join(tmpdir(), 'voxgate-bench-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const { url, prefix, frameMs } = options;
const natsBus =
  url === undefined
    ? undefined
    : await openNatsBus({ secrets: SECRETS, servers: [url], prefix, node: 'edge01', startMs: 10_000 });
const bus = natsBus ?? new MemoryBus();
const natsMessages = (): number => {
  const stats = natsBus?.link.connection.stats();
  return stats === undefined ? 0 : stats.inMsgs + stats.outMsgs;
};
const access = () => ({ baseUrl: undefined, credential: undefined });
const providers = new Map([[loopback.name, loopback]]);
const engines = { loopback: new LoopbackEngine(clock) };
if (url === undefined) new LegService(bus, new UpstreamHost({ providers, engines, access, clock }));
const onFault = (...fault: unknown[]) => console.error(...fault);
const reservations = new Reservations({
  store: new MemoryLedger(null),
  clock,
  wallNow: () => new Date(),
  node: bus.node,
  settings: { directory: join(directory, 'usage'), journalSyncMs: 10 * MINUTE, graceMs: MINUTE, historyDays: 0 },
  onFault,
});
const prices = createPriceList(providers.values());
const spools = new FileSpools({ directory, quota: new Quota(60_000), onFault });
const host = new SessionHost({
  bus,
  clock,
  wallNow: () => new Date(),
  settings: {
    ...{
      idleMs: MINUTE,
      suspendMs: MINUTE,
      longestMs: 60 * MINUTE,
      memoryBytesMax: 2 * 1_048_576,
      replayMs: MINUTE,
      replaySpoolMs: 0,
      drainMs: MINUTE,
    },
    ...{
      spoolNodeBytesMax: 1_000_000_000,
      unreadBytesMax: 65_536,
      unreadEventsMax: 256,
      latency: 'balanced',
      upstreamRetries: 1,
      retryMs: 0,
    },
    returnToPrimary: 'off',
    returnMs: MINUTE,
    hearEmptyAgain: 'off',
    ...{ backOffMs: 100, settleMs: 5_000, closeMs: 20_000, binaryFrameBytesMax: 1_048_576, textFrameBytesMax: 65_536 },
  },
  gathering: { low: { share: 0 }, balanced: { share: 0 }, throughput: { share: 1 } },
  totals: {
    audioReceived: () => {},
    audioSent: () => {},
    dropped: () => {},
    refused: () => {},
    redacted: () => {},
    voiceChecked: () => {},
    primaryReturn: () => {},
    standby: () => {},
  },
  sessionsMax: 100_000,
  openSpool: (organisationId: string) => spools.open(organisationId),
  access,
  breakers: new Breakers({ clock, failuresMax: 5, openMs: 10_000, openMsMax: 300_000, onFault }),
  dials: new DialGate(50),
  onOpened: () => {},
  onEnded: () => {},
  onFault,
});

const request: ListenRequest = {
  ...{ model: 'loopback/script', fallbacks: [], sampleRate: RATE, encoding: 'linear16', language: undefined },
  ...{ interimResults: true, diarization: false, strict: false },
  providerParams: { turns: [{ text: 'a turn of the load', seconds: TURN_MS / 1000 }], interim_seconds: 0.3 },
};
const { members, warnings } = await resolveChain(
  { ...request, mode: 'live', organisationId: 'org_1' },
  { providers, engines, access, prices },
);
const lateMs: number[] = [];
let errors = 0;
let framesGiven = 0;
const frame = new Uint8Array((RATE * 2 * frameMs) / 1000).fill(1);
await Promise.all(Array.from({ length: options.sessions }, (_, index) => speak(index)));
let cpu = process.cpuUsage();
let begunAtMessages = natsMessages();

process.on('message', (order: EdgeOrder) => {
  if (order === 'begin') {
    lateMs.length = 0;
    cpu = process.cpuUsage();
    framesGiven = 0;
    begunAtMessages = natsMessages();
    return;
  }
  const { user, system } = process.cpuUsage(cpu);
  const audioSeconds = (framesGiven * frameMs) / 1000;
  const report = {
    lateMs,
    cpuMs: (user + system) / 1000,
    natsMessages: natsMessages() - begunAtMessages,
    audioSeconds,
    errors,
  };
  process.send?.(report satisfies EdgeReport, () => process.exit());
});
process.on('disconnect', () => process.exit());
process.send?.('open');

/** One session, in a phase of its own. */
async function speak(index: number): Promise<void> {
  const head = { id: `ses_${index}`, organisationId: 'org_1', keyId: 'key_1', mode: 'live' as const };
  const meter = await reservations.open(
    { ...head, model: request.model, openedAt: new Date().toISOString() },
    pricedMembers(members),
  );
  const endsAtMs: number[] = [];
  const session = host.open(
    { ...head, sessionId: head.id, requestId: `req_${index}`, request, chain: members, warnings, meter, release() {} },
    {
      bufferedBytes: 0,
      send: (text) => {
        if (text.includes('"type":"error"') || text.includes('upstream_reconnected')) errors++;
        if (!text.includes('"is_final":true')) return 'sent';
        const at = endsAtMs.shift();
        if (at !== undefined) lateMs.push(performance.now() - at);
        return 'sent';
      },
      close: () => {},
    },
  );
  let frames = 0;
  const startedAtMs = performance.now() + (index / options.sessions) * TURN_MS;
  const next = (): void => {
    const dueMs = startedAtMs + frames * frameMs;
    setTimeout(() => {
      frames++;
      framesGiven++;
      if ((frames * frameMs) % TURN_MS === 0) endsAtMs.push(performance.now());
      session.audio(frame);
      next();
    }, dueMs - performance.now());
  };
  next();
}
