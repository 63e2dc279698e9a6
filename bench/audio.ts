// `npm run bench -- audio [--frame-ms 20] [--seconds 20] [--rounds 7] [--json]`: what one second of audio costs in this process, by
// what is done with it: taken in, given to a leg, and put on its way to another node and read there. Processor time, and bytes of the
// JavaScript heap allocated for a frame, each the median of rounds that take turns.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { CodedEncoding, Encoding } from '../src/api/listen.ts';
import { type OpusDecoder, openOpusDecoder } from '../src/audio/codecs/opus-decoder.ts';
import { AudioPipeline } from '../src/audio/pipeline.ts';
import { OggPackets } from '../src/audio/streams/ogg-packets.ts';
import type { BusBody } from '../src/cluster/bus/bus.ts';
import { AddressPairs } from '../src/cluster/bus/nats/address-pairs.ts';
import { Batch, readEntries } from '../src/cluster/bus/nats/batches.ts';
import { decodeFrame, encodeFrame } from '../src/cluster/bus/nats/frames.ts';
import { Subjects } from '../src/cluster/bus/nats/subjects.ts';
import { openFrame, readHead, type SealedHead, Sealer } from '../src/cluster/bus/sealing/frame-seal.ts';
import { KeyRing } from '../src/cluster/bus/sealing/key-ring.ts';
import { SECRETS } from '../test/fakes/secrets.ts';
import { median } from './median.ts';

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: {
    'frame-ms': { type: 'string', default: '20' },
    seconds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '7' },
    json: { type: 'boolean', default: false },
  },
});
const frameMs = Number(options['frame-ms']);
const framesPerSecond = 1000 / frameMs;
/** Frames that leave together where many sessions share a node. */
const TOGETHER = 16;
/** Bytes are counted over so few frames that nothing is collected meanwhile. */
const COUNTED_FRAMES = 64;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Does with so many frames what is measured. */
type Work = (frames: number) => void;

const recording = (name: string) => readFileSync(new URL(`../test/fixtures/audio/formats/${name}`, import.meta.url));

const paths: Readonly<Record<string, Work>> = {
  'received: linear16': intake('linear16', 16_000),
  'received: mulaw': intake('mulaw', 8_000),
  'received: opus, 20 ms per packet': await coded('opus', packetsOf(recording('opus.ogg'))),
  'received: webm-opus, 20 ms per packet': await coded('webm-opus', inPieces(recording('opus-live.webm'))),
  'received and sent to a leg at the same rate': toLeg(16_000),
  'received and sent to a leg at another rate': toLeg(24_000),
  'to another node and read there, one by one': oneByOne(),
  [`to another node and read there, ${TOGETHER} together`]: together(),
};
const measured = Object.fromEntries(
  Object.keys(paths).map((name) => [name, { us: [] as number[], bytes: [] as number[] }]),
);
for (let round = -1; round < Number(options.rounds); round++) {
  for (const [name, work] of Object.entries(paths)) {
    const frames = Number(options.seconds) * framesPerSecond;
    const begun = process.cpuUsage();
    work(frames);
    const { user, system } = process.cpuUsage(begun);
    collect();
    const before = process.memoryUsage().heapUsed;
    work(COUNTED_FRAMES);
    const after = process.memoryUsage().heapUsed;
    // The first round is for the compiler.
    if (round < 0) continue;
    measured[name]?.us.push((user + system) / Number(options.seconds));
    measured[name]?.bytes.push((after - before) / COUNTED_FRAMES);
  }
}
print();

function pipelineOf(encoding: Encoding, sampleRate: number, decoder?: OpusDecoder): AudioPipeline {
  const openSpool = () => {
    throw new Error('Nothing is spooled here.');
  };
  const bounds = { memoryBytesMax: 8 * 1_048_576, replayMs: 10_000, replaySpoolMs: 0, spoolBytesMax: 0 };
  return new AudioPipeline({ sampleRate, encoding, decoder, ...bounds, openSpool });
}

function frameOf(bytesPerSecond: number): Uint8Array {
  return new Uint8Array((bytesPerSecond * frameMs) / 1000).fill(7);
}

function intake(encoding: Encoding, rate: number): Work {
  const frame = frameOf(encoding === 'linear16' ? 2 * rate : rate);
  return (frames) => {
    const pipeline = pipelineOf(encoding, rate);
    for (let n = 0; n < frames; n++) pipeline.push(frame);
  };
}

/** Ten seconds of speech at 12 kbit/s, again and again. */
async function coded(encoding: CodedEncoding, messages: readonly Uint8Array[]): Promise<Work> {
  const decoder = await openOpusDecoder(16_000);
  return (frames) => {
    const pipeline = pipelineOf(encoding, 16_000, decoder);
    for (let n = 0; pipeline.receivedSamples < frames * 320; n++) {
      pipeline.push(messages[n % messages.length] as Uint8Array);
      while (pipeline.isDecoding) pipeline.push(new Uint8Array(0));
    }
  };
}

function packetsOf(ogg: Uint8Array): Uint8Array[] {
  const source = new OggPackets();
  source.push(ogg);
  const packets: Uint8Array[] = [];
  for (let piece = source.next(); piece !== undefined; piece = source.next()) {
    if (piece instanceof Uint8Array) packets.push(piece.slice());
  }
  return packets;
}

/** About 100 ms each. */
function inPieces(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / 128) }, (_, n) => bytes.subarray(n * 128, (n + 1) * 128));
}

function toLeg(legRate: number): Work {
  const rate = 16_000;
  const frame = frameOf(2 * rate);
  return (frames) => {
    const pipeline = pipelineOf('linear16', rate);
    const sizes = { minMs: 20, idealMs: 100, maxMs: 1000, tail: 'short' as const };
    const pace = { speedMax: Number.POSITIVE_INFINITY, burstMs: 0, turnPauseMs: Number.POSITIVE_INFINITY };
    pipeline.openLane({ frame: sizes, sampleRate: legRate, ...pace }, 0);
    for (let n = 0; n < frames; n++) {
      pipeline.push(frame);
      pipeline.next(n * frameMs);
    }
  };
}

/** As nodes of earlier versions are sent it. */
function oneByOne(): Work {
  const { sealer, open, frame } = sealing();
  return (frames) => {
    for (let n = 1; n <= frames; n++) {
      const sealed = sealer.seal('bench.subject', '', encodeFrame('abcdef/ses_1', audio(n), frame) as Uint8Array);
      decodeFrame(open(sealed));
    }
  };
}

function together(): Work {
  const { sealer, open, frame } = sealing();
  const pairs = new AddressPairs(new Subjects('bench'), 'abcdef');
  const batch = new Batch('ghijkl');
  const legs = Array.from({ length: TOGETHER }, (_, n) => {
    const pair = pairs.of(`abcdef/ses_${n}`, `ghijkl/leg.ses_${n}.1`);
    if (pair === undefined) throw new Error('It is no address.');
    return pair;
  });
  return (frames) => {
    for (let n = 1; n <= frames; n += TOGETHER) {
      for (const pair of legs) batch.add(pair, audio(n), frame);
      readEntries(open(sealer.seal('bench.subject', '', batch.take().plain)), () => {});
    }
  };
}

function sealing() {
  const ring = new KeyRing(SECRETS, 'bench');
  const sealer = new Sealer(ring, 'abcdef');
  let key: Uint8Array | undefined;
  const open = (data: Buffer): Buffer => {
    const head = readHead(data) as SealedHead;
    key ??= ring.candidates(head.hint)[0] as Uint8Array;
    return openFrame(key, head, 'bench.subject', '', data) as Buffer;
  };
  return { sealer, open, frame: frameOf(32_000) };
}

function audio(n: number): BusBody {
  return { type: 'leg.audio', sequence: n, number: n } as BusBody;
}

function print(): void {
  const rows = Object.entries(measured).map(([name, { us, bytes }]) => ({
    path: name,
    cpu_us_per_second: Math.round(median(us) * 10) / 10,
    from_to: [Math.min(...us), Math.max(...us)].map((value) => Math.round(value * 10) / 10),
    allocated_bytes_per_frame: Math.round(median(bytes)),
  }));
  const [alone, many] = rows.slice(-2).map((row) => row.cpu_us_per_second) as [number, number];
  const ratios = { together_vs_one_by_one_cpu: Math.round((many / alone) * 1000) / 1000 };
  if (!options.json) console.table(rows);
  console.log(JSON.stringify({ ratios, frame_ms: frameMs, rounds: Number(options.rounds), paths: rows }));
}
