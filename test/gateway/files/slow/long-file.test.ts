// Hours of speech in Opus, 29 MB, at a model that takes 25 MB: every sentence comes back once and in its place, with one bill, and
// neither the memory nor the disk of the gateway has more of it than a few parts.
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import type { VerboseTranscription } from '../../../../src/api/transcriptions.ts';
import { SpeechMeter } from '../../../../src/audio/voice/energy.ts';
import { systemClock } from '../../../../src/runtime/telemetry/clock.ts';
import type { EarSource } from '../../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../../src/vendors/simulators.ts';
import { startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { programOf } from '../../../fakes/processes/programs.ts';
import { temporaryDirectory } from '../../../fakes/temporary-directory.ts';

const run = promisify(execFile);
/** `npm run test:release` sets 4. */
const HOURS = Number(process.env.FILE_HOURS ?? 1);
const HOURS_SECONDS = HOURS * 3_600;
const KBIT_PER_SECOND = 64 / HOURS;
const MODEL = 'openai/whisper-1';
const READING = join(import.meta.dirname, '../../../fixtures/audio/reading.wav');
/** The reading, with silence up to here. */
const LOOP_SECONDS = 15;
const LOOPS = HOURS_SECONDS / LOOP_SECONDS;
/** Shorter silence is within the reading. */
const SILENCE_SECONDS = 2;

const ffmpeg = programOf('ffmpeg');
let server: SimulatorServer | undefined;
afterAll(() => server?.close());

/** Hears where each reading begins and ends, and nothing of its words. */
const readingEar: EarSource =
  () =>
  ({ sampleRate }, listener) => {
    const meter = new SpeechMeter(sampleRate);
    const readings: { start: number; end: number }[] = [];
    let position = 0;
    const look = () => {
      const end = meter.speech.endAfter(readings.at(-1)?.end ?? -1, SILENCE_SECONDS * sampleRate);
      if (end === undefined) return;
      const start = meter.speech.startAfter(readings.at(-1)?.end ?? 0);
      readings.push({ start, end });
    };
    return {
      queuedBytes: 0,
      audio: (bytes) => {
        const samples = new Int16Array(new Uint8Array(bytes).buffer);
        // In steps, so that no two readings end in one.
        for (let at = 0; at < samples.length; at += sampleRate) {
          meter.take(samples, at, Math.min(at + sampleRate, samples.length));
          look();
        }
        position += samples.length;
      },
      finalize: () => {},
      finish: () =>
        void setImmediate(() => {
          const last = readings.at(-1)?.end ?? 0;
          if (meter.speech.between(last, position)) {
            readings.push({ start: meter.speech.startAfter(last), end: meter.speech.lastEnd as number });
          }
          for (const [turn, { start, end }] of readings.entries()) {
            listener({ type: 'final', turn, text: 'reading', start: start / sampleRate, end: end / sampleRate });
          }
          listener({ type: 'finished' });
        }),
      close: () => {},
    };
  };

// The program may be missing outside the build.
it.runIf(ffmpeg !== undefined)(
  `a file of ${HOURS} h comes back whole, with one bill`,
  async () => {
    const directory = temporaryDirectory();
    const loop = join(directory, 'loop.wav');
    const path = join(directory, 'long.ogg');
    const quiet = ['-v', 'error', '-y'];
    await run('ffmpeg', [...quiet, '-i', READING, '-af', 'apad', '-t', String(LOOP_SECONDS), loop]);
    const looped = ['-stream_loop', '-1', '-i', loop, '-t', String(HOURS_SECONDS)];
    const opus = ['-c:a', 'libopus', '-b:a', `${KBIT_PER_SECOND}k`, '-vbr', 'off', '-compression_level', '0'];
    await run('ffmpeg', [...quiet, ...looped, ...opus, path]);

    const simulator = simulators.find(({ provider }) => provider === 'openai');
    server = await SimulatorServer.start({ simulator: simulator!, ear: readingEar, clock: systemClock });
    const live = await startLiveGateway({ VOXGATE_OPENAI_URL: server.url, OPENAI_API_KEY: 'key' });
    const form = new FormData();
    form.append('model', MODEL);
    form.append('response_format', 'verbose_json');
    form.append('speech_gate', 'off');
    const file = await openAsBlob(path);
    expect(file.size).toBeGreaterThan(26_214_400);
    form.append('file', file, 'long.ogg');
    let rssMax = 0;
    const watch = setInterval(() => {
      rssMax = Math.max(rssMax, process.memoryUsage().rss);
    }, 1_000);
    const rssBefore = process.memoryUsage().rss;
    const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
    clearInterval(watch);
    const answer = (await response.json()) as VerboseTranscription;

    expect([response.status, answer.warnings?.map(({ code }) => code)]).toEqual([200, ['file_cut']]);
    expect(answer.segments).toHaveLength(LOOPS);
    for (const [index, { start, end }] of (answer.segments ?? []).entries()) {
      expect(start - index * LOOP_SECONDS).toBeGreaterThan(-0.1);
      expect(start - index * LOOP_SECONDS).toBeLessThan(1);
      expect(end - index * LOOP_SECONDS).toBeGreaterThan(9.5);
      expect(end - index * LOOP_SECONDS).toBeLessThan(11.5);
    }
    expect(Math.abs(answer.duration - HOURS_SECONDS)).toBeLessThan(0.1);
    const record = await live.request(`/v1/sessions/${answer.request_id}`);
    expect(await record.json()).toMatchObject({
      ...{ state: 'ended', mode: 'batch', reason: 'completed', held_usd: '0.00' },
      audio_seconds: answer.duration,
      usage: [{ model: MODEL, seconds: answer.duration, cost_usd: answer.usage.cost_usd }],
    });
    const usage = await live.request('/v1/usage');
    expect(await usage.json()).toMatchObject({ data: [{ group: MODEL, sessions: 1 }] });
    // The simulator, which has whole parts in memory, is in this process as well. All samples of four hours are 461 MB.
    expect(rssMax - rssBefore).toBeLessThan(700_000_000);
  },
  540_000,
);
