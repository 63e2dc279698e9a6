// What a newcomer does first: a recording of a person's voice, without a key of any provider and without a setting.
import { describe, expect, it } from 'vitest';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { expectReading, READING } from '../../fakes/reading.ts';

const AUDIO = 'test/fixtures/audio';
const live = await startLiveGateway();
const run = (...args: string[]) => voxgate(['transcribe', ...args], { VOXGATE_KEY: live.key });
const there = ['--url', live.url];

describe('voxgate transcribe without a model', { timeout: 60_000 }, () => {
  it('transcribes the voice of a person, without a warning', async () => {
    const { code, output, errors } = await run(`${AUDIO}/${READING.file}`);
    expect([code, errors]).toEqual([0, '']);
    expectReading(output);
  });

  it('transcribes it live, one line a turn', async () => {
    const { code, output, errors } = await run(`${AUDIO}/${READING.file}`, '--live', ...there);
    expect([code, errors]).toEqual([0, '']);
    expect(output.trim().split('\n')).toHaveLength(READING.turns.length);
    expectReading(output);
  });

  it.each(['reading.mp3', 'reading.ogg', 'reading.webm'])('transcribes the voice in %s', async (name) => {
    const { code, output, errors } = await run(`${AUDIO}/formats/${name}`, ...there);
    expect([code, errors]).toEqual([0, '']);
    expectReading(output);
  });

  it.each(['flac.flac', 'flac.ogg', 'cbr.mp3', 'opus-live.webm'])('takes %s', async (name) => {
    expect(await run(`${AUDIO}/formats/${name}`, ...there)).toMatchObject({
      code: 0,
      output: expect.stringMatching(/\w/),
      errors: '',
    });
  });

  it.each([[[]], [['--live']]])('says how to convert an m4a: %j', async (args) => {
    const { code, output, errors } = await run(`${AUDIO}/formats/aac.m4a`, ...args, ...there);
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(/^voxgate: [^\n]*takes WAV, MP3[^\n]* ffmpeg -i \S+aac\.m4a speech\.wav\n$/);
  });

  it('still takes another model', async () => {
    expect((await run(`${AUDIO}/yes.wav`, '--model', 'local/commands-en', ...there)).output).toBe('yes\n');
  });
});
