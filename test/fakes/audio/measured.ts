// Measures bytes that are all here.
import { audioIn } from '../../../src/audio/containers/measure.ts';
import type { MeasuredAudio } from '../../../src/audio/scan.ts';

export function measured(bytes: Uint8Array): MeasuredAudio | undefined {
  const scan = audioIn(bytes.length);
  let step = scan.next();
  while (step.done !== true) {
    const { at, length } = step.value;
    step = scan.next(bytes.subarray(at, at + length));
  }
  return step.value;
}
