// A long M4A file: a short one of the fixtures, again and again.
import { m4aHeader } from '../../../src/audio/containers/mp4-writer.ts';
import { unitsOf } from '../../../src/files/long/units.ts';
import { honestFiles } from '../../audio/length/honest/made.ts';
import { measured } from './measured.ts';

const TICKS = 1_024;

/** @param bytesMin its size, at least */
export async function longM4a(bytesMin: number) {
  const short = honestFiles().find(({ name }) => /^aac-.*\.m4a$/.test(name))?.bytes;
  const units = short && (await unitsOf(async (at, length) => short.subarray(at, at + length), short.length));
  if (short === undefined || units === undefined) throw new Error('There is no M4A file among the fixtures.');
  const { positions, sizes, description, seconds: unitSeconds } = units;
  const once = Buffer.concat([...positions].map((at, unit) => short.subarray(at, at + (sizes[unit] as number))));
  const times = Math.ceil(bytesMin / once.length);
  const all = Uint32Array.from({ length: sizes.length * times }, (_, unit) => sizes[unit % sizes.length] as number);
  const header = m4aHeader({ description, timescale: Math.round(TICKS / unitSeconds), sampleTicks: TICKS, sizes: all });
  const bytes = Buffer.concat([header, ...new Array<Buffer>(times).fill(once)]);
  return { bytes, seconds: measured(bytes)?.seconds ?? 0, units: all.length, unitSeconds };
}
