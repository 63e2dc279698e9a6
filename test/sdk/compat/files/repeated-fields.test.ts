// Forms of vendors' clients that say a field more than once.
import { expect, it } from 'vitest';
import { sampleAudio } from '../../../fakes/processes/live-gateway.ts';
import type { Driver } from '../../../vendors/compat/driver.ts';
import { startDialectRig } from '../../../vendors/compat/rig.ts';
import { elevenLabsWithOptions } from '../../drivers/ai-sdk.ts';

const rig = startDialectRig();
const { bytes } = sampleAudio('commands.wav');

it('transcribes a file of @ai-sdk/elevenlabs, which sends `diarize` twice', async () => {
  const { file } = elevenLabsWithOptions as Required<Driver>;
  const { key, gateway } = rig;
  expect(await file({ url: gateway.url, key, model: 'deepgram/nova-3' }, bytes)).toMatch(/^\d+-\d+/);
});

const PARTS = { elevenlabs: 'file', openai: 'file', speechmatics: 'data_file' } as const;

it.each([
  ['openai', '/v1/audio/transcriptions', 'model', ['no/model', 'deepgram/nova-3']],
  ['elevenlabs', '/v1/speech-to-text', 'model_id', ['no/model', 'deepgram/nova-3']],
  [
    'speechmatics',
    '/v2/jobs',
    'config',
    ['{}', '{"type":"transcription","transcription_config":{"language":"en","model":"deepgram/nova-3"}}'],
  ],
] as const)('uses the last of a repeated field: %s', async (name, path, field, values) => {
  const send = async (order: readonly string[]) => {
    const form = new FormData();
    for (const value of order) form.append(field, value);
    form.append(PARTS[name], new Blob([new Uint8Array(bytes)]), 'audio.wav');
    const authorization = name === 'elevenlabs' ? { 'xi-api-key': rig.key } : { Authorization: `Bearer ${rig.key}` };
    const url = `${rig.gateway.url}/compat/${name}${path}`;
    return (await fetch(url, { method: 'POST', body: form, headers: authorization })).status;
  };
  expect(await send(values)).toBeLessThan(300);
  expect(await send([...values].reverse())).toBeGreaterThanOrEqual(400);
});

it('refuses a repeated field at /v1', async () => {
  const form = new FormData();
  for (const model of ['deepgram/nova-3', 'deepgram/nova-3']) form.append('model', model);
  form.append('file', new Blob([new Uint8Array(bytes)]), 'audio.wav');
  const headers = { Authorization: `Bearer ${rig.key}` };
  const response = await fetch(`${rig.gateway.url}/v1/audio/transcriptions`, { method: 'POST', body: form, headers });
  expect(await response.json()).toMatchObject({ error: { code: 'duplicate_parameter', param: 'model' } });
});
