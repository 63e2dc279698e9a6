// Files of other vendors' official clients, unmodified but for address and key. Each client meets a model of one shape, and all clients
// together those of every shape; every client with a model of every provider is drawn in the slow tier.
import { describe, expect, it } from 'vitest';
import { sampleAudio } from '../../../fakes/processes/live-gateway.ts';
import type { Driver } from '../../../vendors/compat/driver.ts';
import { startDialectRig } from '../../../vendors/compat/rig.ts';
import { drivers } from '../../drivers/index.ts';

/** One of each shape, dealt to the clients one after the other. */
const MODELS = ['deepgram/nova-3', 'speechmatics/enhanced', 'openai/gpt-4o-transcribe', 'local/digits-en'];

const BROKEN = 'mistral';
/** What code that cannot be changed asks for. */
const ALIASES = { unbreakable: [{ model: `${BROKEN}/voxtral-mini-2602` }, { model: 'deepgram/nova-3' }] } as const;

const rig = startDialectRig({ [BROKEN]: ['refuse=500'] }, ALIASES);

const CLIENTS = drivers
  .filter(({ file }) => file !== undefined)
  .map((driver, index) => ({ ...driver, model: MODELS[index % MODELS.length] as string }));

it('covers every shape with a client', () => {
  expect(new Set(CLIENTS.map(({ model }) => model)).size).toBe(MODELS.length);
});

describe.concurrent.each(CLIENTS)('$client, files', ({ model, ...driver }) => {
  const { bytes } = sampleAudio('digits.wav');

  const heardBy = (model: string): Promise<string> => {
    const { key, gateway } = rig;
    return (driver.file as NonNullable<Driver['file']>)({ url: gateway.url, key, model }, bytes);
  };

  it(`get a transcript from ${model}`, async () => {
    expect(await heardBy(model)).toMatch(model.startsWith('local/') ? /\w/ : /^\d+-\d+/);
  });

  it('get a transcript from a fallback where the first model fails, unnoticed', async () => {
    expect(await heardBy('unbreakable')).toMatch(/^\d+-\d+/);
  });
});
