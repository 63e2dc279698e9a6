// Live sessions of other vendors' official clients, unmodified but for address and key, with models of every shape behind the gateway.
import { describe, expect, it } from 'vitest';
import { PROTOCOLS } from '../failover/protocols.ts';
import type { Driver } from './drivers/driver.ts';
import { drivers } from './drivers/index.ts';
import { heardWrongly, startDialectRig } from './rig.ts';

/** Closes every connection in the middle. */
const BROKEN = 'soniox';
const BROKEN_MODEL = PROTOCOLS.find(({ provider }) => provider === BROKEN)?.slug as string;
const FALLBACK = 'assemblyai/universal-streaming-english';
/** What code that cannot be changed asks for. */
const ALIASES = { unbreakable: [{ model: BROKEN_MODEL }, { model: FALLBACK }] } as const;

const rig = startDialectRig({ [BROKEN]: ['close-after=900ms'] }, ALIASES);
/** One model of each shape; the matrix of all is drawn in the slow tier. */
const MODELS = PROTOCOLS.filter(({ isFull }) => isFull).map(({ slug }) => slug);

describe.concurrent.each(drivers.filter(({ live }) => live !== undefined))('$client, live', (driver) => {
  it.each(MODELS)('hears every sample once with %s', async (model) => {
    expect(await heardWrongly(rig, driver, [model])).toEqual([]);
  });

  it('sees nothing of a failover in the middle', async () => {
    expect(await heardWrongly(rig, driver, [BROKEN_MODEL, FALLBACK], { named: 'unbreakable' })).toEqual([]);
  });

  it('is refused with a key that is unknown', async () => {
    const job = { url: rig.gateway.url, key: 'sk_vox_unknown', model: BROKEN_MODEL, sampleRate: 16_000 };
    await expect((driver.live as NonNullable<Driver['live']>)(job, [])).rejects.toThrow();
  });
});
