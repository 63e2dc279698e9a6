// Files by the SDK: every format as the SDK gives it, every kind of file it takes, and the id of the request.
import { createReadStream, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { numberedWav } from '../../../clients/files.ts';
import { SAID } from '../../../clients/upstream.ts';
import { sampleAudio, samples } from '../../../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../../../fakes/temporary-directory.ts';
import type { Rig } from '../rig.ts';

const WHISPER = 'openai/whisper-1';
const REQUEST_ID = /^req_[0-9a-f-]{36}$/;

type Verbose = OpenAI.Audio.TranscriptionVerbose;
type Diarized = OpenAI.Audio.TranscriptionDiarized;

export function answersSuite(rig: Rig): void {
  describe('a transcription', () => {
    const create = <Format extends OpenAI.Audio.TranscriptionCreateParams['response_format']>(format: Format) =>
      rig
        .file()
        .then((file) => rig.client().audio.transcriptions.create({ model: WHISPER, file, response_format: format }));

    it('comes as json without a format', async () => {
      const file = await rig.file();
      const transcription = await rig.client().audio.transcriptions.create({ model: WHISPER, file });
      expect(transcription.text).toBe(SAID.join(' '));
      expect((transcription as { _request_id?: string })._request_id).toMatch(REQUEST_ID);
    });

    it('comes as json by name', async () => {
      expect(await create('json')).toMatchObject({ text: SAID.join(' '), usage: { type: 'duration', seconds: 4 } });
    });

    it('comes as a string in text, srt and vtt', async () => {
      expect(await create('text')).toBe(`${SAID.join(' ')}\n`);
      expect(await create('srt')).toMatch(
        /^1\n00:00:00,000 --> 00:00:02,000\nhello and welcome\n\n2\n00:00:02,000 --> 00:00:04,000\nthis is a script\n/,
      );
      expect(await create('vtt')).toMatch(
        /^WEBVTT\n\n(?:1\n)?00:00:00\.000 --> 00:00:02\.000\nhello and welcome\n\n(?:2\n)?00:00:02\.000 --> 00:00:04\.000\nthis is a script\n/,
      );
    });

    it('contains segments with speakers in diarized_json', async () => {
      const { segments } = (await create('diarized_json')) as unknown as Diarized;
      expect(segments.map(({ id, start, end, text, speaker }) => [id, start, end, text, speaker])).toEqual([
        ['seg_0', 0, 2, SAID[0], 'unknown'],
        ['seg_1', 2, 4, SAID[1], 'unknown'],
      ]);
    });

    it('contains segments, words and a bill in verbose_json', async () => {
      const verbose = (await create('verbose_json')) as Verbose;
      expect(verbose).toMatchObject({ text: SAID.join(' '), duration: 4, usage: { type: 'duration', seconds: 4 } });
      expect(verbose.segments?.map(({ id, start, end, text }) => [id, start, end, text])).toEqual([
        [0, 0, 2, SAID[0]],
        [1, 2, 4, SAID[1]],
      ]);
      expect(verbose.words?.map(({ word }) => word)).toEqual(SAID.join(' ').split(' '));
    });

    it.each<[('word' | 'segment')[], boolean, boolean]>([
      [['word'], true, false],
      [['segment'], false, true],
      [['word', 'segment'], true, true],
    ])('contains the times of %j alone on request', async (timestamp_granularities, words, segments) => {
      const verbose = await rig.client().audio.transcriptions.create({
        model: WHISPER,
        file: await rig.file(),
        response_format: 'verbose_json',
        timestamp_granularities,
      });
      expect([(verbose.words?.length ?? 0) > 0, (verbose.segments?.length ?? 0) > 0]).toEqual([words, segments]);
    });

    it('comes from the embedded recogniser without any provider', async () => {
      const [sample] = samples();
      const { text } = await rig.client().audio.transcriptions.create({
        model: 'local/commands-en',
        language: 'en',
        file: await rig.sdk.toFile(sampleAudio('commands.wav').bytes, 'commands.wav'),
      });
      expect(text).toBe(sample?.text);
    });

    it('comes with the response and the id of the request', async () => {
      const { data, response, request_id } = await rig
        .client()
        .audio.transcriptions.create({ model: WHISPER, file: await rig.file(), response_format: 'text' })
        .withResponse();
      expect([typeof data, response.status, request_id]).toEqual(['string', 200, expect.stringMatching(REQUEST_ID)]);
      expect(response.headers.get('x-request-id')).toBe(request_id);
      const raw = await rig
        .client()
        .audio.transcriptions.create({ model: WHISPER, file: await rig.file(), response_format: 'json' })
        .asResponse();
      expect(await raw.json()).toMatchObject({ text: SAID.join(' ') });
    });
  });

  describe('the file of a transcription', () => {
    const textOf = async (file: OpenAI.Audio.TranscriptionCreateParams['file']) => {
      const { text } = await rig.client().audio.transcriptions.create({ file, model: WHISPER });
      return text;
    };
    const onDisk = (seconds: number, name = 'speech.wav') => {
      const path = join(temporaryDirectory(), name);
      writeFileSync(path, numberedWav(seconds));
      return path;
    };

    it('can be a stream of a file, small or large', async () => {
      // Sent in chunks of no announced length, by a form that the SDK writes itself.
      expect(await textOf(createReadStream(onDisk(4)))).toBe(SAID.join(' '));
      expect(await textOf(createReadStream(onDisk(20)))).toContain(SAID.join(' '));
    });

    it('can be a File with any name', async () => {
      expect(await textOf(new File([numberedWav(4)], 'speech.wav', { type: 'audio/wav' }))).toBe(SAID.join(' '));
      expect(await textOf(await rig.file(4, 'réunion "du" 3 mars — 日本語.wav'))).toBe(SAID.join(' '));
    });

    it('can be made of a buffer, of bytes, or of a blob', async () => {
      const bytes = numberedWav(4);
      for (const from of [bytes, new Uint8Array(bytes), new Blob([bytes])]) {
        expect(await textOf(await rig.sdk.toFile(from, 'speech.wav'))).toBe(SAID.join(' '));
      }
    });

    it('can be the response of another server', async () => {
      const server = createServer((_, response) => {
        response.setHeader('content-type', 'audio/wav').end(numberedWav(4));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a%20folder/speech.wav?signed=1`;
        expect(await textOf(await fetch(url))).toBe(SAID.join(' '));
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });

    it('can exceed the memory limit, ahead of the fields', async () => {
      const { text } = await rig.client().audio.transcriptions.create({
        file: await rig.file(20),
        model: WHISPER,
        language: 'en',
        response_format: 'json',
      });
      expect(text).toContain(SAID.join(' '));
      expect(rig.upstream.field('language')).toEqual(['en']);
    });
  });
}
