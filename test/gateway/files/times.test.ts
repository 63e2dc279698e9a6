// A model that gives no times of words although it could: what it did not give is found out when it has answered.
import { describe, expect, it } from 'vitest';
import { expectNothingLeft, flac, reservations, send, server } from './files-fixture.ts';

const FILE = flac(2_000);
const WORDS: [string, string][] = [
  ['model', 'straight/file'],
  ['response_format', 'verbose_json'],
  ['timestamp_granularities[]', 'word'],
];

describe('requested word times that are missing', () => {
  it('cause a warning', async () => {
    const { warning, json } = await send(WORDS, FILE);
    expect([warning, json.words, json.warnings]).toMatchObject([
      'words_unavailable',
      [],
      [
        {
          code: 'words_unavailable',
          param: 'timestamp_granularities[]',
          message: expect.stringContaining('straight/file'),
        },
      ],
    ]);
    await expectNothingLeft();
  });

  it('refuse the request in strict mode, without a charge', async () => {
    const { status, json } = await send([...WORDS, ['strict', 'true']], FILE);
    expect([status, json]).toMatchObject([
      422,
      { error: { code: 'unsupported_parameter', param: 'timestamp_granularities[]' } },
    ]);
    expect([server('straight').arrived.length, reservations.charges.size, reservations.released]).toEqual([1, 0, 1]);
    await expectNothingLeft();
  });

  it('cause no warning where they were not requested', async () => {
    const { warning, json } = await send([...WORDS.slice(0, 2), ['strict', 'true']], FILE);
    expect([warning, json.words]).toEqual([null, []]);
  });
});
