// Jobs that are cancelled or deleted at any moment: while they wait, while their audio is fetched, sent or answered, while they are
// settled and stored, and after that. Status, charge and webhook agree each time. The gateway is in this process, so that a turn of
// the event loop is a step of it.
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JobAnswer } from '../../../src/api/jobs.ts';
import { openSqliteStore, type SqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { type Random, seeded } from '../../fakes/random.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const SEEDS = Number(process.env.CANCEL_SEEDS ?? 240);
const FIRST_SEED = Number(process.env.CANCEL_FIRST_SEED ?? 1);
/** Of one seed, with a key that works on one at a time. */
const JOBS = 3;
const TURNS_MAX = 120;
const CREDIT = 1_000_000_000n;
const BY = { type: 'operator', id: 'test' } as const;
const MODEL = 'custom/timed';
const { bytes: WAV } = sampleAudio('yes.wav');

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** How late the servers are, and what the receiver of webhooks was sent. */
let lateness: Random = seeded(0);
interface Told {
  ids: Set<string>;
  types: Set<string>;
  statuses: Set<string>;
}
let told = new Map<string, Told>();

async function receive(text: string, messageId: string): Promise<void> {
  const { type, data } = JSON.parse(text) as { type: string; data: JobAnswer };
  const known = told.get(data.id) ?? { ids: new Set(), types: new Set(), statuses: new Set() };
  known.ids.add(messageId);
  known.types.add(type);
  known.statuses.add(data.status);
  told.set(data.id, known);
}

async function answer(path: string, text: string, messageId: string, response: ServerResponse): Promise<void> {
  if (path === '/hook') {
    await receive(text, messageId);
    response.writeHead(204).end();
    return;
  }
  await turns(lateness.integer(0, TURNS_MAX / 2));
  if (path === '/audio.wav') response.writeHead(200, { 'Content-Type': 'audio/wav' }).end(WAV);
  else response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ text: 'timed speech' }));
}

const server = createServer(async (request, response) => {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of request) pieces.push(piece as Buffer);
  } catch {
    return;
  }
  const { url = '', headers } = request;
  await answer(url, Buffer.concat(pieces).toString('latin1'), String(headers['webhook-id']), response);
});
const at = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

type Action = 'cancel' | 'delete' | 'cancel twice' | 'cancel and delete';
const ACTIONS: readonly Action[] = ['cancel', 'delete', 'cancel twice', 'cancel and delete'];

interface Raced {
  id: string;
  /** Statuses that answers to `cancel` showed. */
  shown: JobAnswer['status'][];
  isDeleted: boolean;
}

class Racers {
  readonly #gateway: LiveGateway;
  readonly #headers: Record<string, string>;

  constructor(gateway: LiveGateway, key: string) {
    this.#gateway = gateway;
    this.#headers = { Authorization: `Bearer ${key}` };
  }

  async ask<Answer>(method: string, path: string, body?: FormData | object): Promise<{ status: number; json: Answer }> {
    const isForm = body === undefined || body instanceof FormData;
    const reply = await fetch(`${this.#gateway.url}/v1/${path}`, {
      method,
      headers: { ...this.#headers, ...(isForm ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, json: (text === '' ? undefined : JSON.parse(text)) as Answer };
  }

  /** Makes jobs, and ends one of them at a moment that the seed says. */
  async race(random: Random): Promise<Raced[]> {
    const made = await Promise.all(Array.from({ length: JOBS }, () => this.#create(random)));
    const raced = made.map((id): Raced => ({ id, shown: [], isDeleted: false }));
    await turns(random.integer(0, TURNS_MAX * 2));
    await this.#end(random.pick(raced), random.pick(ACTIONS));
    await Promise.all(raced.map((each) => this.#over(each)));
    return raced;
  }

  async #create(random: Random): Promise<string> {
    const isAtAddress = random.next() < 0.4;
    const form = new FormData();
    form.append('model', MODEL);
    form.append('file', new Blob([new Uint8Array(WAV)]), 'yes.wav');
    const body = isAtAddress ? { model: MODEL, audio_url: at('/audio.wav') } : form;
    const { status, json } = await this.ask<JobAnswer>('POST', 'jobs', body);
    expect(status).toBe(202);
    return json.id;
  }

  async #end(raced: Raced, action: Action): Promise<void> {
    const cancel = async () => {
      const { status, json } = await this.ask<JobAnswer>('POST', `jobs/${raced.id}/cancel`);
      if (status === 200) raced.shown.push(json.status);
      else expect([status, raced.isDeleted]).toEqual([404, true]);
    };
    const remove = async () => {
      raced.isDeleted = true;
      expect((await this.ask('DELETE', `jobs/${raced.id}`)).status).toBe(204);
    };
    if (action === 'cancel') await cancel();
    else if (action === 'delete') await remove();
    else await Promise.all([cancel(), action === 'cancel twice' ? cancel() : remove()]);
  }

  async #over({ id, isDeleted }: Raced): Promise<void> {
    for (;;) {
      const { status, json } = await this.ask<JobAnswer>('GET', `jobs/${id}`);
      if (isDeleted ? status === 404 : json.ended_at !== null) return;
      await turns(10);
    }
  }

  async chargesOf(id: string): Promise<number[]> {
    const { json } = await this.ask<{ data: { cost_usd: string }[] }>('GET', `sessions?id=job_${id}&limit=100`);
    return json.data.map(({ cost_usd }) => Number(cost_usd)).filter((cost) => cost > 0);
  }
}

describe.each([
  ['free', '1000'],
  ['charged', '0'],
])('jobs that are ended at any moment, where an answer that came too late is %s', (_, untakenFree) => {
  let gateway: LiveGateway;
  let store: SqliteStore;
  let organisationId: string;
  let racers: Racers;

  beforeAll(async () => {
    const directory = temporaryDirectory();
    const config = join(directory, 'voxgate.json');
    const models = [{ name: 'timed', model: 'timed-1', batch: '0.6' }];
    writeFileSync(config, JSON.stringify({ custom: [{ shape: 'openai', url: at('/v1'), models }] }));
    gateway = await startLiveGateway({
      VOXGATE_DATA_DIRECTORY: directory,
      VOXGATE_CONFIG: config,
      VOXGATE_UNTAKEN_FILES_FREE: untakenFree,
      VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8',
      VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000000',
    });
    store = await openSqliteStore({ directory });
    organisationId = (await store.createOrganisation('Racers', 0n, BY)).id;
    const credit = { organisationId, kind: 'top_up', microUsd: CREDIT, uniqueKey: 'racers', note: '' } as const;
    await store.addCredit(credit, BY);
    const scopes = ['transcribe', 'webhooks'] as const;
    const { secret } = await store.createKey(organisationId, { sessionsMax: 1, scopes: [...scopes] }, BY);
    racers = new Racers(gateway, secret);
    told = new Map();
    const hook = { url: at('/hook'), events: ['job.completed', 'job.failed'] };
    expect((await racers.ask('POST', 'webhooks', hook)).status).toBe(201);
  });
  afterAll(() => store?.close());

  it(`${SEEDS} seeds: status, charge and webhook of each job agree`, { timeout: 60_000 + SEEDS * 1_000 }, async () => {
    const all: (Raced & { seed: number })[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      lateness = seeded(seed + 1_000_000);
      all.push(...(await racers.race(seeded(seed))).map((each) => ({ ...each, seed })));
    }
    await vi.waitFor(async () => expect((await store.balanceOf(organisationId)).heldMicroUsd).toBe(0n), {
      timeout: 120_000,
      interval: 500,
    });
    await vi.waitFor(() => expect(all.filter(({ id, isDeleted }) => !isDeleted && !told.has(id))).toEqual([]), {
      timeout: 60_000,
      interval: 500,
    });
    const counts: Record<string, number> = {};
    let charged = 0;
    for (const { id, shown, isDeleted, seed } of all) {
      const { json } = await racers.ask<JobAnswer>('GET', `jobs/${id}`);
      const status = isDeleted ? 'deleted' : json.status;
      const charges = await racers.chargesOf(id);
      const { ids, types, statuses } = told.get(id) ?? { ids: new Set(), types: new Set(), statuses: new Set() };
      const seen = { seed, id, status, shown, charges, ids: ids.size, types: [...types], statuses: [...statuses] };
      counts[status] = (counts[status] ?? 0) + 1;
      charged += charges.length;
      const isCharged = charges.length === 1;
      expect(charges.length, JSON.stringify(seen)).toBeLessThanOrEqual(1);
      expect(ids.size, JSON.stringify(seen)).toBeLessThanOrEqual(1);
      // What a client was shown as cancelled is never charged.
      if (shown.includes('cancelled')) expect(isCharged, JSON.stringify(seen)).toBe(false);
      if (status === 'deleted') {
        if (types.has('job.completed')) expect(isCharged, JSON.stringify(seen)).toBe(true);
        continue;
      }
      expect(seen).toMatchObject({
        status: isCharged ? 'completed' : 'cancelled',
        types: [isCharged ? 'job.completed' : 'job.failed'],
        statuses: [status],
      });
      for (const each of shown) expect(each, JSON.stringify(seen)).toBe(status);
      expect(json.result?.text).toBe(isCharged ? 'timed speech' : undefined);
    }
    const { balanceMicroUsd } = await store.balanceOf(organisationId);
    const each = (CREDIT - balanceMicroUsd) / BigInt(Math.max(charged, 1));
    expect(balanceMicroUsd).toBe(CREDIT - each * BigInt(charged));
    expect(await store.auditLedger()).toMatchObject({ ok: true, faults: [] });
    expect(readdirSync(join(gateway.directory, 'jobs', 'alone'))).toEqual([]);
    expect(counts.completed).toBeGreaterThan(SEEDS);
    expect(Math.min(counts.cancelled ?? 0, counts.deleted ?? 0)).toBeGreaterThan(0);
    console.log(JSON.stringify({ seeds: SEEDS, jobs: all.length, ...counts, charged }));
  });
});
