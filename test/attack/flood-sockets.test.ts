// Sockets that send as fast as they can, of an organisation without money: beside them a session that is paid for gets all of
// its finals, and /healthz answers in between.
import { beforeAll, expect, it } from 'vitest';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../fakes/audio/numbered-finals.ts';
import { clientFrame, OPCODE } from '../fakes/raw-socket.ts';
import type { Customer } from './rig/customers.ts';
import { type AttackedApart, startAttackedApart, startFlood } from './rig/gateway-apart.ts';

const ROUNDS = 20;
const TURN_SAMPLES = 8_000;
const FLOOD_SECONDS_MAX = 25;

let attacked: AttackedApart;
let honest: Customer;
beforeAll(async () => {
  const prices = { 'loopback/script': { live: { unit: 'minute', amount: '0.60' } } } as const;
  attacked = await startAttackedApart({ prices, env: { VOXGATE_BINARY_FRAME_BYTES_MAX: '1048576' } });
  honest = await attacked.customer(10_000_000n);
});

const empty = (opcode: number, count: number) =>
  Array.from({ length: count }, () => clientFrame(opcode, '', { fin: false }));

const FLOODS: readonly [what: string, sockets: number, frames: Buffer, first?: Buffer | undefined, query?: string][] = [
  ['invalid text on one socket', 1, clientFrame(OPCODE.text, 'x')],
  ['invalid text on 50 sockets', 50, clientFrame(OPCODE.text, 'x')],
  ['invalid text of 32 KiB', 5, clientFrame(OPCODE.text, `[${'1,'.repeat(16_000)}1]`)],
  ['keepalives', 5, clientFrame(OPCODE.text, '{"type":"keepalive"}')],
  [
    'finalizes',
    5,
    Buffer.concat([clientFrame(OPCODE.binary, Buffer.alloc(2)), clientFrame(OPCODE.text, '{"type":"finalize"}')]),
  ],
  ['pings', 5, clientFrame(OPCODE.ping)],
  ['pongs', 5, clientFrame(OPCODE.pong)],
  ['binary frames without a byte', 20, clientFrame(OPCODE.binary)],
  ['binary frames of one byte', 50, clientFrame(OPCODE.binary, 'a')],
  [
    'messages in 1,000 empty fragments',
    10,
    Buffer.concat([
      ...empty(OPCODE.binary, 1),
      ...empty(OPCODE.continuation, 998),
      clientFrame(OPCODE.continuation, 'a'),
    ]),
  ],
  ['20 ms frames of audio', 20, clientFrame(OPCODE.binary, Buffer.alloc(640))],
  [
    'packets of Opus that last 120 ms each',
    5,
    clientFrame(OPCODE.binary, Buffer.of(0x1b, 2)),
    undefined,
    '&encoding=opus',
  ],
  [
    'frames after one that is too large',
    20,
    clientFrame(OPCODE.binary, 'ab'),
    clientFrame(OPCODE.binary, Buffer.alloc(1_100_000)),
  ],
  ['text after a close', 20, clientFrame(OPCODE.text, 'x'), clientFrame(OPCODE.text, '{"type":"close"}')],
];

it.each(FLOODS)(
  'delivers every final of a paid session during a flood of %s',
  { timeout: 60_000 },
  async (what, sockets, frames, first, query = '') => {
    const client = honest.connect({ model: 'loopback/numbered', provider_params: '{"turn_seconds":0.5}' });
    await client.event('session_started');
    // One of its own, since the places of the last one are taken until its sessions are over.
    const flooding = await attacked.customer(0n);
    const flood = await startFlood({
      url: attacked.url,
      path: `/v1/listen?model=loopback/numbered${query}`,
      key: flooding.key,
      sockets,
      framesHex: frames.toString('hex'),
      ...(first === undefined ? {} : { firstHex: first.toString('hex') }),
      secondsMax: FLOOD_SECONDS_MAX,
    });
    const healthMs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      client.send(numberedAudio(round * TURN_SAMPLES, (round + 1) * TURN_SAMPLES));
      const askedAt = performance.now();
      expect((await fetch(`${attacked.url}/healthz`)).status).toBe(200);
      healthMs.push(performance.now() - askedAt);
      // A turn is over when there is audio behind it.
      if (round > 0) await client.event('transcript', ({ is_final, turn }) => is_final && turn === round - 1);
    }
    const report = await flood.stop();
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expectWhole(client.finals, ROUNDS * TURN_SAMPLES);
    note(what, healthMs, report);
  },
);

/** Times are for whoever looks; none of them is a promise. */
function note(what: string, healthMs: number[], report: unknown): void {
  if (process.env.ATTACK_FIGURES === undefined) return;
  const sorted = [...healthMs].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1);
  console.log(what, { p50: at(0.5), p99: at(0.99) }, JSON.stringify(report));
}
