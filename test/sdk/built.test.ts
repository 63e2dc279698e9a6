// Every dialect through the built program, driven by the vendors' official clients: live and files, with models of the simulated providers.
import { beforeAll, describe, expect, it } from 'vitest';
import { dialects } from '../../src/vendors/dialects.ts';
import { installPackage, serve, simulatedProviders } from '../built/rig.ts';
import { sampleAudio } from '../fakes/processes/live-gateway.ts';
import type { Serving } from '../fakes/processes/serving.ts';
import { carrierSuite } from '../live/calls/carriers.suite.ts';
import { FULL } from '../live/failover/protocols.ts';
import { heardWrongly } from '../vendors/compat/rig.ts';
import { drivers } from './drivers/index.ts';

const FILE_MODEL = 'deepgram/nova-3';
const LIVE_MODELS = FULL.map(({ slug }) => slug);
const CARRIERS = ['twilio', 'telnyx', 'vonage', 'audiohook'];

let gateway: Serving;
beforeAll(async () => {
  const needed = [FILE_MODEL, ...LIVE_MODELS].map((slug) => slug.split('/')[0] as string);
  gateway = await serve(installPackage(), {
    ...(await simulatedProviders([...new Set(needed)])),
    VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8',
  });
}, 120_000);

it('covers every dialect, live and with files wherever it has endpoints for them', () => {
  const names = new Set([...drivers.map(({ dialect }) => dialect), ...CARRIERS]);
  expect(names).toEqual(new Set(dialects.map(({ name }) => name)));
  for (const { name, live, files, forms = {}, jsonFiles = {}, jobs = {} } of dialects) {
    if (CARRIERS.includes(name)) continue;
    const own = drivers.filter(({ dialect }) => dialect === name);
    const forFiles = Object.keys({ ...files, ...forms, ...jsonFiles, ...jobs });
    expect([name, own.some((driver) => driver.live), own.some((driver) => driver.file)]).toEqual([
      name,
      Object.keys(live).length > 0,
      forFiles.length > 0,
    ]);
  }
});

const living = drivers.filter(({ live }) => live !== undefined);
it.concurrent.each(living.map((driver, at) => ({ driver, model: LIVE_MODELS[at % LIVE_MODELS.length] as string })))(
  'transcribes every sample once live for $driver.client with $model',
  async ({ driver, model }) => {
    expect(await heardWrongly({ gateway, key: gateway.key }, driver, [model])).toEqual([]);
  },
);

const filing = drivers.filter(({ file }) => file !== undefined);
it.concurrent.each(filing)('$client transcribes a file', async ({ file }) => {
  const job = { url: gateway.url, key: gateway.key, model: FILE_MODEL };
  expect(await file?.(job, sampleAudio('digits.wav').bytes)).toMatch(/^\d+-\d+/);
});

describe('calls of carriers', () => carrierSuite(() => gateway));
