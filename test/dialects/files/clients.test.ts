// Files of other vendors' official clients, unmodified but for address and key, with models of every shape behind the gateway.
import { describe, expect, it } from 'vitest';
import { sampleAudio } from '../../fakes/processes/live-gateway.ts';
import type { Driver } from '../drivers/driver.ts';
import { drivers } from '../drivers/index.ts';
import { startDialectRig } from '../rig.ts';

const MODELS = ['deepgram/nova-3', 'speechmatics/enhanced', 'openai/gpt-4o-transcribe', 'local/digits-en'];

const BROKEN = 'mistral';
/** What code that cannot be changed asks for. */
const ALIASES = { unbreakable: [{ model: `${BROKEN}/voxtral-mini-2602` }, { model: 'deepgram/nova-3' }] } as const;

const rig = startDialectRig({ [BROKEN]: ['refuse=500'] }, ALIASES);

describe.concurrent.each(drivers.filter(({ file }) => file !== undefined))('$client, files', (driver) => {
  const { bytes } = sampleAudio('commands.wav');

  const heardBy = (model: string): Promise<string> => {
    const { key, gateway } = rig;
    return (driver.file as NonNullable<Driver['file']>)({ url: gateway.url, key, model }, bytes);
  };

  it.each(MODELS)('are transcribed by %s', async (model) => {
    expect(await heardBy(model)).toMatch(model.startsWith('local/') ? /\w/ : /^\d+-\d+/);
  });

  it('are transcribed by a fallback where the first model fails, and nothing is seen of that', async () => {
    expect(await heardBy('unbreakable')).toMatch(/^\d+-\d+/);
  });
});
