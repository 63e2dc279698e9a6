// `npm run bench -- speech-gate [FILE]`: what the check of a file for voices costs. Without a file, an hour of a person's speech with noise
// between. CPU of the detector's process and of this one (which reads or decodes the file), and how late its event loop was.
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { FileDecodings } from '../src/files/decoding/decoding.ts';
import { FileSource } from '../src/files/file-source.ts';
import { FileSpeechGates } from '../src/files/speech-gate.ts';
import { Recogniser } from '../src/recogniser/recogniser.ts';
import { systemClock } from '../src/runtime/telemetry/clock.ts';

const READING = new URL('../test/fixtures/audio/reading.wav', import.meta.url);
const RATE = 16_000;
const HOUR_SECONDS = 3_600;
const HEADER_BYTES = 44;
/** A tick of the kernel's accounting. */
const TICK_MS = 10;

/** Speech and noise take turns. */
function* hour(): Generator<Uint8Array> {
  const speech = readFileSync(READING).subarray(HEADER_BYTES);
  const noise = new Int16Array(5 * RATE);
  let state = 1;
  for (let at = 0; at < noise.length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    noise[at] = (state >>> 16) % 2_000;
  }
  const parts = [speech, new Uint8Array(noise.buffer)];
  for (let bytes = 0, part = 0; bytes < HOUR_SECONDS * RATE * 2; part++) {
    const next = parts[part % 2] as Uint8Array;
    for (let at = 0; at < next.length; at += 65_536) yield next.subarray(at, at + 65_536);
    bytes += next.length;
  }
}

/** CPU of the detector's process. */
function detectorMs(): number {
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const [, rest = ''] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ');
      const fields = rest.split(' ');
      const isOurs =
        Number(fields[1]) === process.pid && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('voice/worker');
      if (isOurs) return TICK_MS * (Number(fields[11]) + Number(fields[12]));
    } catch {
      // It has ended.
    }
  }
  return 0;
}

const [path] = process.argv.slice(2);
const recogniser = new Recogniser({
  ...{ workers: 1, streamsMax: 8, queueBytesMax: 2 * 1024 ** 2, dictationStreamsMax: 16, dictationSlots: 2 },
});
const decodings = new FileDecodings({ clock: systemClock });
const gates = new FileSpeechGates({
  engine: recogniser,
  clock: systemClock,
  decodings,
  onOutcome: () => {},
  onOverflow: () => {},
});
const file = await FileSource.open(
  path === undefined
    ? {
        bytes: HOUR_SECONDS * RATE * 2,
        rawSampleRate: RATE,
        read: async function* () {
          yield* hour();
        },
      }
    : { bytes: statSync(path).size, rawSampleRate: undefined, read: () => createReadStream(path) },
);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const before = process.cpuUsage();
const startMs = performance.now();
const scan = gates.open(file, 'org_1');
await scan.enough(systemClock, 600_000, () => false);
const seconds = (performance.now() - startMs) / 1_000;
const own = process.cpuUsage(before);
delay.disable();
const perHour = HOUR_SECONDS / scan.seconds;
const figure = (value: number) => value.toFixed(1);
console.log(
  `${figure(scan.seconds)} s of audio were checked in ${figure(seconds)} s${scan.failure === undefined ? '' : `, and then not: ${scan.failure}`}.`,
);
console.log(
  `CPU for an hour of audio: detector ${figure((detectorMs() / 1_000) * perHour)} s, this process ${figure(((own.user + own.system) / 1e6) * perHour)} s.`,
);
console.log(
  `Event loop: late by ${figure(delay.percentile(99) / 1e6)} ms in 99 of 100 ticks, ${figure(delay.max / 1e6)} ms at most.`,
);
console.log(`Memory: ${Math.round(process.memoryUsage.rss() / 1024 ** 2)} MB in this process.`);
decodings.close();
await recogniser.close();
