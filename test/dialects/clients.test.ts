// Official clients of other vendors, unmodified but for address and key, with models of every shape behind the gateway.
import { describe, expect, it } from 'vitest';
import { PROTOCOLS } from '../failover/protocols.ts';
import { sampleAudio } from '../fakes/processes/live-gateway.ts';
import type { Driver } from './drivers/driver.ts';
import { drivers } from './drivers/index.ts';
import { heardWrongly, startDialectRig } from './rig.ts';

/** Closes every connection in the middle. */
const BROKEN = 'soniox';
const BROKEN_MODEL = PROTOCOLS.find(({ provider }) => provider === BROKEN)?.slug as string;
const FALLBACK = 'assemblyai/universal-streaming-english';
/** What code that cannot be changed asks for. */
const ALIASES = { unbreakable: [{ model: BROKEN_MODEL }, { model: FALLBACK }] } as const;
const FILE_MODELS = ['deepgram/nova-3', 'speechmatics/enhanced', 'openai/gpt-4o-transcribe', 'local/digits-en'];

const rig = startDialectRig({ [BROKEN]: ['close-after=900ms'] }, ALIASES);
/** One model of each shape; the matrix of all is drawn in the slow tier. */
const MODELS = PROTOCOLS.filter(({ isFull }) => isFull).map(({ slug }) => slug);

describe.each(drivers.filter(({ live }) => live !== undefined))('$client, live', (driver) => {
  it.concurrent.each(MODELS)('hears every sample once with %s', async (model) => {
    expect(await heardWrongly(rig, driver, [model])).toEqual([]);
  });

  it.concurrent('sees nothing of a failover in the middle', async () => {
    expect(await heardWrongly(rig, driver, [BROKEN_MODEL, FALLBACK], { named: 'unbreakable' })).toEqual([]);
  });

  it.concurrent('is refused with a key that is unknown', async () => {
    const job = { url: rig.gateway.url, key: 'sk_vox_unknown', model: BROKEN_MODEL, sampleRate: 16_000 };
    await expect((driver.live as NonNullable<Driver['live']>)(job, [])).rejects.toThrow();
  });
});

describe.each(drivers.filter(({ file }) => file !== undefined))('$client, files', (driver) => {
  const { bytes } = sampleAudio('commands.wav');

  it.concurrent.each(FILE_MODELS)('are transcribed by %s', async (model) => {
    const { key } = rig;
    const { url } = rig.gateway;
    const text = await (driver.file as NonNullable<Driver['file']>)({ url, key, model }, bytes);
    expect(text).toMatch(model.startsWith('local/') ? /\w/ : /^\d+-\d+/);
  });
});
