// Files as people make them, by real encoders and muxers: each is charged for what is in it, and little more is held.
import { describe, expect, it } from 'vitest';
import { measured } from '../../fakes/audio/measured.ts';
import { honestFiles, isRight } from './honest/made.ts';

const files = honestFiles();

it('covers a hundred files', () => {
  expect(files.length).toBeGreaterThanOrEqual(100);
});

describe('an honest file is measured within one percent or one packet', () => {
  it.each(files.map((file) => [file.name, file] as const))('%s', (_, file) => {
    const audio = measured(file.bytes);
    expect(audio).toMatchObject({ seconds: expect.any(Number) });
    expect({ ...audio, isRight: isRight(audio?.seconds ?? 0, file) }).toMatchObject({ isRight: true });
    expect(audio?.isDamaged ?? false).toBe(false);
    // Held: with the silence of the encoder at both ends, and what may lie around bare samples.
    expect(audio?.secondsMax).toBeLessThanOrEqual(file.seconds * 1.01 + 6 * file.spareSeconds + 0.1);
  });
});
