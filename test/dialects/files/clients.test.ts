// Files of other vendors' official clients, unmodified but for address and key, with models of every shape behind the gateway.
import { describe, expect, it } from 'vitest';
import { sampleAudio } from '../../fakes/processes/live-gateway.ts';
import type { Driver } from '../drivers/driver.ts';
import { drivers } from '../drivers/index.ts';
import { startDialectRig } from '../rig.ts';

const MODELS = ['deepgram/nova-3', 'speechmatics/enhanced', 'openai/gpt-4o-transcribe', 'local/digits-en'];

const rig = startDialectRig();

describe.concurrent.each(drivers.filter(({ file }) => file !== undefined))('$client, files', (driver) => {
  const { bytes } = sampleAudio('commands.wav');

  it.each(MODELS)('are transcribed by %s', async (model) => {
    const { key } = rig;
    const { url } = rig.gateway;
    const text = await (driver.file as NonNullable<Driver['file']>)({ url, key, model }, bytes);
    expect(text).toMatch(model.startsWith('local/') ? /\w/ : /^\d+-\d+/);
  });
});
