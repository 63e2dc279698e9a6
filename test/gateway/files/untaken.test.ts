// Files whose client leaves before the answer: some are given up and free; then the work is done to its end, and charged. And what
// is refused before the upload is over, for want of money or leave.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { apiError } from '../../../src/api/errors.ts';
import { wavOf } from '../../fakes/audio/audio-files.ts';
import { answer } from '../../live/upstream/http-batch-fixture.ts';
import {
  END,
  expectNothingLeft,
  lengths,
  open,
  reservations,
  send,
  server,
  settled,
  untaken,
} from './files-fixture.ts';

const FILE = wavOf(320_000);

/** Leaves as soon as the provider has the whole file; the provider answers when told. */
async function leave(model = 'second/file'): Promise<() => void> {
  const name = model.split('/')[0] as string;
  let finish = () => {};
  const heard = new Promise<void>((resolve) => {
    server(name).answers = [
      (response) => {
        finish = () => void response.end('{"text":"for nobody","seconds":10}');
        resolve();
      },
    ];
  });
  const upload = open(model, FILE.length, [], '/files', {}, 'audio/wav');
  upload.end(Buffer.concat([FILE, END]));
  await heard;
  upload.destroy();
  return () => finish();
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a client that leaves before the answer', () => {
  it('pays nothing while cancelling is free, and the work is cancelled', async () => {
    vi.spyOn(untaken, 'isFree').mockReturnValue(true);
    await leave();
    expect(await settled(() => reservations.released === 1)).toBe(true);
    expect(reservations.charges.size).toBe(0);
    await expectNothingLeft();
  });

  it('pays once cancelling is no longer free and the provider has finished', async () => {
    const asked = new Promise<void>((resolve) => {
      vi.spyOn(untaken, 'isFree').mockImplementation(() => {
        resolve();
        return false;
      });
    });
    const finish = await leave();
    await asked;
    expect([reservations.open, reservations.charges.size]).toEqual([1, 0]);
    finish();
    expect(await settled(() => reservations.charges.size === 1)).toBe(true);
    expect([...reservations.charges.values()]).toMatchObject([
      { seconds: 10, costMicroUsd: 100_000n, isUntaken: true },
    ]);
    await expectNothingLeft();
  });

  it('ends work that costs nothing, at any number of cancellations', async () => {
    const isFree = vi.spyOn(untaken, 'isFree').mockReturnValue(false);
    await leave('straight/file');
    expect(await settled(() => reservations.released === 1)).toBe(true);
    expect([isFree.mock.calls.length, reservations.charges.size]).toEqual([0, 0]);
    await expectNothingLeft();
  });
});

it('charges nothing for a form broken after its file: no provider received the end', async () => {
  vi.spyOn(untaken, 'isFree').mockReturnValue(false);
  const rest = Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="languish"\r\n\r\nen\r\n--b--\r\n');
  const upload = open('second/file', FILE.length + rest.length - END.length, [], '/files', {}, 'audio/wav');
  upload.end(Buffer.concat([FILE, rest]));
  const status = await new Promise((resolve) => {
    upload.on('response', (response) => resolve(response.resume().statusCode));
  });
  expect([status, server('second').arrived.length, reservations.charges.size]).toEqual([400, 0, 0]);
  await expectNothingLeft();
});

it('charges an answer refused in strict mode when cancelling is no longer free', async () => {
  vi.spyOn(untaken, 'isFree').mockReturnValue(false);
  server('second').answers = [answer({ text: 'heard', seconds: 10 })];
  const fields: [string, string][] = [
    ['model', 'second/file'],
    ['response_format', 'verbose_json'],
    ['timestamp_granularities[]', 'word'],
    ['strict', 'true'],
  ];
  const { status, json } = await send(fields, FILE, '/files', 'audio/wav');
  expect([status, json]).toMatchObject([422, { error: { code: 'unsupported_parameter' } }]);
  expect([...reservations.charges.values()]).toMatchObject([{ seconds: 10, isUntaken: true }]);
  await expectNothingLeft();
});

describe('an upload that is refused before its file is measured or read to its end', () => {
  const early = async (model: string, type: string) => {
    const measure = vi.spyOn(lengths, 'measure');
    const upload = open(model, 100_000_000, [], '/files', {}, type);
    upload.write(Buffer.alloc(1_000_000, type === 'audio/wav' ? 0 : 1));
    const answered = await new Promise<[number, string]>((resolve) => {
      upload.on('response', async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve([response.statusCode ?? 0, text]);
      });
    });
    upload.destroy();
    expect([measure.mock.calls.length, reservations.reserved.length]).toEqual([0, 0]);
    await expectNothingLeft();
    return answered;
  };

  it('belongs to a caller without credit', async () => {
    reservations.isBroke = true;
    const [status, text] = await early('second/file', 'audio/flac');
    expect([status, text]).toEqual([402, expect.stringContaining('insufficient_credit')]);
  });

  it('belongs to a caller that may not use the model', async () => {
    vi.spyOn(reservations, 'requireCredit').mockRejectedValue(apiError('model_not_allowed', 'Not this one.'));
    expect((await early('second/file', 'audio/flac'))[0]).toBe(403);
  });

  it('names an unknown model', async () => {
    const [status, text] = await early('second/none', 'audio/flac');
    expect([status, text]).toEqual([404, expect.stringContaining('model_not_found')]);
  });
});

it('skips measuring a small file for a caller without credit', async () => {
  reservations.isBroke = true;
  const measure = vi.spyOn(lengths, 'measure');
  const upload = open('second/file', 1_000, [], '/files', {}, 'audio/flac');
  upload.end(Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(996), END]));
  const status = await new Promise((resolve) => {
    upload.on('response', (response) => resolve(response.resume().statusCode));
  });
  expect([status, measure.mock.calls.length]).toEqual([402, 0]);
});
