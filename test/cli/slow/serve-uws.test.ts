// A gateway as it is started without a chosen server adapter: which one serves, and what it leaves on standard error.
import { expect, test } from 'vitest';
import { reasonAgainstUws } from '../../../src/http/open-server.ts';
import { loadUws } from '../../../src/http/uws/library.ts';
import { Serving } from '../../fakes/processes/serving.ts';

const reason = await reasonAgainstUws();
if (reason !== undefined) console.warn(`uWebSockets.js is not tried: ${reason}`);

// Not every machine has a binary that reads every request.
test.skipIf(reason !== undefined)(
  'uWebSockets.js serves, is named with its build in the log, and warns of nothing',
  async () => {
    const serving = await Serving.start({ env: { VOXGATE_DOOR: 'auto' } });
    expect(serving.lines.find(({ msg }) => msg === 'listening')).toMatchObject({ door: 'uws', build: loadUws().name });
    expect(serving.lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).not.toContain(
      'node:http with ws serves instead of uWebSockets.js',
    );
    const welcome = serving.errors;
    const speaking = await serving.speak(16_000);
    await speaking.heard();
    expect(await speaking.finish()).toBe(1000);
    expect((await serving.connect({}, false).refused()).status).toBe(401);
    expect((await serving.request('/v1/models')).status).toBe(200);
    expect((await serving.request('/nowhere', { method: 'HEAD' })).status).toBe(404);
    const form = new FormData();
    form.set('model', 'loopback/numbered');
    form.set('file', new Blob([Buffer.alloc(100)]), 'a.wav');
    await serving.request('/v1/audio/transcriptions', { method: 'POST', body: form });
    await serving.end('SIGTERM');
    // The library writes there by itself.
    expect(serving.errors.slice(welcome.length)).not.toContain('Warning');
  },
);
