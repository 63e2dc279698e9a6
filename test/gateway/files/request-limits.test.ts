// `max_cost` and `max_seconds` of a file: one that may cost more, or is longer, is refused before a provider is sent any of it.
import { describe, expect, it } from 'vitest';
import { MP3_FRAME_SECONDS, mp3, wavOf } from '../../fakes/audio/audio-files.ts';
import { expectNothingLeft, flac, reservations, send, server } from './files-fixture.ts';

/** A cent a second. */
const PAID: [string, string] = ['model', 'second/file'];
const FREE: [string, string] = ['model', 'straight/file'];
const asked = () => server('second').arrived.length + server('straight').arrived.length;
const second = (seconds: number) => wavOf(seconds * 32_000);

describe('max_cost', () => {
  it.each<[string, [string, string][], Buffer<ArrayBuffer>, string?]>([
    ['a file of exactly that cost', [PAID, ['max_cost', '0.02']], second(2)],
    ['a cheaper file', [PAID, ['max_cost', '1']], second(2)],
    ['a large file that arrives slowly', [PAID, ['max_cost', '2']], second(200)],
    [
      'an MP3 file whose length is counted',
      [PAID, ['max_cost', '0.03']],
      mp3(Math.floor(2 / MP3_FRAME_SECONDS)),
      'audio/mpeg',
    ],
    ['a free model', [FREE, ['max_cost', '0']], second(60)],
    ['an empty value', [PAID, ['max_cost', '']], second(2)],
  ])('accepts %s', async (_, fields, file, type = 'audio/wav') => {
    expect((await send(fields, file, '/files', type)).status).toBe(200);
    await expectNothingLeft();
  });

  it.each<[string, [string, string][], Buffer<ArrayBuffer>, string?]>([
    ['a file that costs a micro-dollar more', [PAID, ['max_cost', '0.019999']], second(2)],
    ['a large file', [PAID, ['max_cost', '1.9']], second(200)],
    ['a fallback that is too dear', [FREE, ['fallbacks', 'second/file'], ['max_cost', '0.01']], second(2)],
    ['a file of unknown length', [PAID, ['max_cost', '5']], flac(200_000), 'audio/flac'],
  ])('refuses %s, and sends it to no provider', async (_, fields, file, type = 'audio/wav') => {
    const before = asked();
    const refused = await send(fields, file, '/files', type);
    expect([refused.status, refused.json]).toMatchObject([
      402,
      { error: { code: 'max_cost_reached', param: 'max_cost', message: expect.stringMatching(/second\/file.*\.$/) } },
    ]);
    expect([asked() - before, reservations.reserved.length]).toEqual([0, 0]);
    await expectNothingLeft();
  });

  it('is refused in a field that is not an amount', async () => {
    const refused = await send([PAID, ['max_cost', '1e-3']], second(1), '/files', 'audio/wav');
    expect([refused.status, refused.json]).toMatchObject([400, { error: { param: 'max_cost' } }]);
  });
});

describe('max_seconds', () => {
  it.each<[string, [string, string][], Buffer<ArrayBuffer>, string?]>([
    ['a file of exactly that length', [PAID, ['max_seconds', '2']], second(2)],
    ['a large file at a free model', [FREE, ['max_seconds', '200']], second(200)],
    [
      'an MP3 file at a free model, whose length is counted for it',
      [FREE, ['max_seconds', '100']],
      mp3(2_000),
      'audio/mpeg',
    ],
  ])('accepts %s', async (_, fields, file, type = 'audio/wav') => {
    expect((await send(fields, file, '/files', type)).status).toBe(200);
    await expectNothingLeft();
  });

  it.each<[string, [string, string][], Buffer<ArrayBuffer>, string?]>([
    ['a longer file', [PAID, ['max_seconds', '2']], second(2.1)],
    ['a longer file at a free model', [FREE, ['max_seconds', '199']], second(200)],
    ['a longer MP3 file', [FREE, ['max_seconds', '10']], mp3(2_000), 'audio/mpeg'],
    ['a file of unknown length', [FREE, ['max_seconds', '60']], flac(200_000), 'audio/flac'],
  ])('refuses %s, and sends it to no provider', async (_, fields, file, type = 'audio/wav') => {
    const before = asked();
    const refused = await send(fields, file, '/files', type);
    expect([refused.status, refused.json]).toMatchObject([
      413,
      {
        error: {
          code: 'audio_too_long',
          param: 'max_seconds',
          message: expect.stringMatching(/`max_seconds` is .*\.$/),
        },
      },
    ]);
    expect([asked() - before, reservations.reserved.length]).toEqual([0, 0]);
    await expectNothingLeft();
  });
});
