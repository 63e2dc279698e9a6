// Live sessions of other vendors' official clients, unmodified but for address and key. Each client meets a model of one shape, and
// all clients together those of every shape; every client with every model is drawn in the slow tier.
import { describe, expect, it } from 'vitest';
import { PROTOCOLS } from '../../live/failover/protocols.ts';
import type { Driver } from '../../vendors/compat/driver.ts';
import { heardWrongly, startDialectRig } from '../../vendors/compat/rig.ts';
import { drivers } from '../drivers/index.ts';

/** Closes every connection in the middle. */
const BROKEN = 'soniox';
const BROKEN_MODEL = PROTOCOLS.find(({ provider }) => provider === BROKEN)?.slug as string;
const FALLBACK = 'assemblyai/universal-streaming-english';
/** What code that cannot be changed asks for. */
const ALIASES = { unbreakable: [{ model: BROKEN_MODEL }, { model: FALLBACK }] } as const;

const rig = startDialectRig({ [BROKEN]: ['close-after=900ms'] }, ALIASES);
/** One model of each shape, dealt to the clients one after the other. */
const MODELS = PROTOCOLS.filter(({ isFull }) => isFull).map(({ slug }) => slug);
const CLIENTS = drivers
  .filter(({ live }) => live !== undefined)
  .map((driver, index) => ({ ...driver, model: MODELS[index % MODELS.length] as string }));

it('covers every shape with a client', () => {
  expect(new Set(CLIENTS.map(({ model }) => model)).size).toBe(MODELS.length);
});

describe.concurrent.each(CLIENTS)('$client, live', ({ model, ...driver }) => {
  it(`transcribes every sample once with ${model}`, async () => {
    expect(await heardWrongly(rig, driver, [model])).toEqual([]);
  });

  it('sees nothing of a failover in the middle', async () => {
    expect(await heardWrongly(rig, driver, [BROKEN_MODEL, FALLBACK], { named: 'unbreakable' })).toEqual([]);
  });

  it('fails with an unknown key', async () => {
    const job = { url: rig.gateway.url, key: 'sk_vox_unknown', model: BROKEN_MODEL, sampleRate: 16_000 };
    await expect((driver.live as NonNullable<Driver['live']>)(job, [])).rejects.toThrow();
  });
});
