// `voxgate models check`: models that work, and one sentence for each that does not, also where native code ends its process.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Trial } from '../../../src/recogniser/dictation/trial.ts';
import { moonshineIn, TRUNCATED, toyIn } from '../../fakes/own-models.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const YES = 'test/fixtures/audio/yes.wav';
const root = temporaryDirectory();
const check = (...args: string[]) => voxgate(['models', 'check', ...args]);

describe('voxgate models check', () => {
  it('transcribes a sample, and prints what the model takes and how fast it is', async () => {
    const { code, output, errors } = await check(moonshineIn(join(root, 'moonshine')));
    expect(code).toBe(0);
    expect(output.toLowerCase()).toMatch(/amiable woman.*respectable/);
    expect(errors).toMatch(
      /^kind +moonshine, en\nload time +[\d.]+ s\nmemory +\d+ MB\nfiles +work, real-time factor [\d.]+ for [\d.]+ s\nlive +works, \d+ interims, finals \d+ ms after the voice at most\n$/,
    );
  });

  it('tries a streaming model with a recording, and prints the figures as JSON', async () => {
    const { code, output } = await check(toyIn(join(root, 'toy')), '--file', YES, '--json');
    const trial = JSON.parse(output) as Trial;
    expect(code).toBe(0);
    expect(trial.text).toMatch(/^(?:one|two|three|four)(?: (?:one|two|three|four))*$/);
    expect(trial.live?.interims).toBeGreaterThan(0);
    expect(trial.file?.realTimeFactor).toBeGreaterThan(0);
    expect(trial.memoryBytes).toBeGreaterThan(30_000_000);
  });

  it('tries the modes that model.json declares', async () => {
    const { code, errors } = await check(toyIn(join(root, 'files'), {}, { modes: ['batch'] }), '--file', YES);
    expect(code).toBe(0);
    expect(errors).toMatch(/files +work.*\nlive +off, as model\.json declares\n$/);
  });

  const BROKEN: [string, () => string, RegExp][] = [
    [
      'is cut off',
      () => moonshineIn(join(root, 'cut'), { 'encoder.onnx': TRUNCATED }),
      /ended with SIGABRT\. It wrote: .*Load model from \S+cut\/encoder\.onnx failed:Protobuf parsing failed\./,
    ],
    [
      'is noise behind its first bytes',
      () => toyIn(join(root, 'noise'), { 'model.onnx': Buffer.concat([Buffer.from([8, 8]), Buffer.alloc(999, 0xa5)]) }),
      /ended with SIGABRT\. It wrote: .*Protobuf parsing failed\./,
    ],
    [
      'is of another kind',
      () => toyIn(join(root, 'other'), {}, { kind: 'sense-voice' }),
      /ended with code 255\. It wrote: .*does not exist in the metadata\./,
    ],
    [
      'has tokens that nobody can read',
      () => toyIn(join(root, 'tokens'), { 'tokens.txt': '<blk> 0\njust some text\n' }),
      /ended with code 255\. It wrote: .*just some text\./,
    ],
    [
      'has too few tokens',
      () => toyIn(join(root, 'few'), { 'tokens.txt': '<blk> 0\n' }),
      /ended with SIG\w+\. It wrote: .*out_of_range/,
    ],
  ];

  it.each(BROKEN)('ends with 1 and one sentence for a model that %s', async (_, folder, what) => {
    const path = folder();
    const { code, output, errors } = await check(path, '--file', YES);
    expect([code, output]).toEqual([1, '']);
    expect(errors.startsWith(`voxgate: the model in ${path} cannot be used: `)).toBe(true);
    expect(errors).toMatch(what);
    expect(errors).toMatch(/\. Check `kind` in its model\.json, and its files\.\n$/);
    expect(errors.trim()).not.toMatch(/\n|^ *at /m);
  });

  it('ends with 1 where no words are found', async () => {
    const silence = join(root, 'silence.wav');
    const header = Buffer.from('UklGRiQAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=', 'base64');
    header.writeUInt32LE(64_000 + 36, 4);
    header.writeUInt32LE(64_000, 40);
    writeFileSync(silence, Buffer.concat([header, Buffer.alloc(64_000)]));
    const path = toyIn(join(root, 'silent'));
    const { code, errors } = await check(path, '--file', silence);
    expect(code).toBe(1);
    expect(errors).toContain(`voxgate: the model in ${path} was opened, and found no words in the recording.\n`);
  });

  it.each<[string[], number, string]>([
    [[], 64, 'name the folder of a model.'],
    [['a', 'b'], 64, '"b" is too much.'],
    [
      [join(root, 'gone')],
      1,
      `The model folder ${join(root, 'gone')} cannot be used: it cannot be read (ENOENT); it is a folder that this user may read.`,
    ],
    [[root], 1, `The model folder ${root} cannot be used: it has no model.json; put one there`],
    [[toyIn(join(root, 'good')), '--file', 'gone.wav'], 1, 'there is no file gone.wav.'],
    [[join(root, 'good'), '--file', root], 1, `${root} is a folder. Name an audio file.`],
    [[join(root, 'good'), '--file', 'package.json'], 1, 'The file is text, not audio.'],
  ])('%j ends with %i', async (args, expected, sentence) => {
    const { code, errors } = await check(...args);
    expect([code, errors]).toEqual([expected, expect.stringContaining(sentence)]);
  });
});
