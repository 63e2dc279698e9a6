// `voxgate transcribe` with files of every kind, formats and a file to write to; and what it says of what it cannot use.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../src/audio/containers/wav.ts';
import { samplesOf } from '../../src/cli/transcribe/live.ts';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { voxgate } from '../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const AUDIO = 'test/fixtures/audio';
const WAV = `${AUDIO}/yes.wav`;
const FORMATS = `${AUDIO}/formats`;
const live = await startLiveGateway();
const directory = temporaryDirectory();
const EMPTY = join(directory, 'empty.wav');
writeFileSync(EMPTY, '');
const to = { VOXGATE_KEY: live.key };
const run = (...args: string[]) => voxgate(['transcribe', ...args], to);
const there = ['--url', live.url];
/** Its text of a sample is exact. */
const commands = ['--model', 'local/commands-en'];

describe('voxgate transcribe', () => {
  it.each([
    ['text', /^yes\n$/],
    ['json', /^\{"text":"yes"/],
    ['verbose_json', /"segments":/],
    ['srt', /^1\n00:00:\d\d,\d{3} --> .*\nyes\n/],
    ['vtt', /^WEBVTT\n/],
  ])('prints %s', async (format, result) => {
    const { code, output, errors } = await run(WAV, '--format', format, ...commands, ...there);
    expect([code, errors]).toEqual([0, '']);
    expect(output).toMatch(result);
  });

  it('writes the transcript to a file, in the place of one that is there', async () => {
    const out = join(directory, 'out.srt');
    writeFileSync(out, 'a former transcript that was longer than the new one, by far');
    expect(await run(WAV, '--format', 'srt', '-o', out, ...commands, `--url=${live.url}/`)).toEqual({
      code: 0,
      output: '',
      errors: '',
    });
    expect(readFileSync(out, 'utf8')).toMatch(/^1\n00:00:\d\d,\d{3} --> 00:00:\d\d,\d{3}\nyes\n$/);
  });

  it.each<[string[], number, string | RegExp]>([
    [[directory], 1, `${directory} is a folder. Name an audio file.`],
    [[EMPTY, ...there], 1, `${EMPTY} is empty. Name an audio file.`],
    [[EMPTY, '--live', ...there], 1, `${EMPTY} is empty. Name an audio file.`],
    [[WAV, '--params', '{x', ...there], 64, '--params takes a JSON object, such as'],
    [[WAV, '--params', '[1]', '--live', ...there], 64, '--params takes a JSON object, such as'],
    [[directory, '--live'], 1, `${directory} is a folder. Name an audio file.`],
    [[join(directory, 'nothing.wav')], 1, /there is no file .*nothing\.wav\./],
    [[WAV, '--url', 'localhost:8080'], 64, 'http:// or https://, such as http://localhost:8080.'],
    [[WAV, '--url', 'stt.example.com/v1'], 64, 'such as http://stt.example.com/v1.'],
    [[WAV, '--url', 'ws://127.0.0.1:8080'], 64, 'such as http://127.0.0.1:8080.'],
    [[WAV, '--url', 'nonsense at all'], 64, 'such as http://127.0.0.1:8080.'],
    [[WAV, '--format', 'doc', ...there], 64, '--format takes one of: text, json, verbose_json'],
    [[WAV, '--format', 'srt', '--live', ...there], 64, '--live shows events as they come'],
    [[WAV, '-o', 'out.txt', '--live', ...there], 64, '--live shows events as they come'],
    [[WAV, '--format', 'srt', '--json', ...there], 64, 'give --json or --format, not both'],
    [[WAV, '--speech-gate', 'loud', ...there], 64, '--speech-gate takes one of: off, mark, drop.'],
    [[WAV, '-o', directory, ...there], 1, 'is a folder. Name a file to write to.'],
    [[WAV, '-o', '/no/such/folder/out.srt', ...there], 1, 'there is no folder /no/such/folder'],
    [[WAV, '--model', 'locl/commands-en', ...there], 1, 'Did you mean local/commands-en'],
    [['package.json', '--live', ...there], 1, 'The file is text, not audio.'],
  ])('refuses %j with a sentence', async (args, exit, words) => {
    const { code, output, errors } = await run(...args);
    expect([code, output]).toEqual([exit, '']);
    expect(errors).toMatch(/^voxgate: [^\n]+\n$/);
    if (typeof words === 'string') expect(errors).toContain(words);
    else expect(errors).toMatch(words);
  });

  it('prints the answer of a server that is not a gateway', async () => {
    const { code, errors } = await run(WAV, '--url', `${live.url}/docs`);
    expect([code, errors]).toEqual([1, expect.stringMatching(/^voxgate: There is no such endpoint/)]);
  });

  it('names the kinds of files in its help', async () => {
    const { output } = await voxgate(['transcribe', '--help']);
    for (const kind of ['WAV', 'MP3', 'FLAC', 'Ogg', 'WebM', 'M4A', 'MP4']) expect(output).toContain(kind);
    expect(output).not.toContain('Transcribes a WAV file');
  });
});

describe('text for a silent file', () => {
  const SILENT = join(directory, 'silent.wav');
  writeFileSync(SILENT, Buffer.concat([wavHeader(16_000, 32_000), Buffer.alloc(32_000)]));
  const invented = [
    '--model',
    'loopback/script',
    '--params',
    '{"turns":[{"text":"Thank you.","seconds":600}]}',
    ...there,
  ];

  it.each([
    ['mark', 'Thank you.', 'Thank you.  (no speech)'],
    ['drop', '', ''],
    ['off', 'Thank you.', 'Thank you.'],
  ])('is printed as --speech-gate %s says', async (mode, text, live) => {
    const gate = ['--speech-gate', mode];
    const file = await run(SILENT, ...invented, ...gate);
    expect([file.code, file.output.trim()]).toEqual([0, text]);
    expect(file.errors).toMatch(mode === 'off' ? /^$/ : /^warning: The text is for audio without a voice/);
    const session = await run(SILENT, '--live', ...invented, ...gate);
    expect([session.code, session.output.trim()]).toEqual([0, live]);
  });
});

describe('a file for a live session', () => {
  it.each(['cbr.mp3', 'flac.flac', 'opus.ogg', 'vorbis.ogg', 'opus.webm'])('decodes: %s', async (name) => {
    const samples = await samplesOf(`${FORMATS}/${name}`, 16_000);
    expect([samples.byteLength > 16_000, samples.byteLength % 2]).toEqual([true, 0]);
  });

  it('goes out at real time, in any format', async () => {
    const { code, output } = await run(`${FORMATS}/flac.flac`, '--live', ...there);
    expect([code, output]).toEqual([0, expect.stringMatching(/\w/)]);
  });

  it('fails with a solution where the gateway cannot decode it', async () => {
    const decoding = samplesOf(`${FORMATS}/aac.m4a`, 16_000);
    await expect(decoding).rejects.toThrow(/^--live takes WAV, MP3.* ffmpeg -i \S+ speech\.wav$/);
  });
});
