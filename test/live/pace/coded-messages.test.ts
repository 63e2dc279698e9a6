// Packets that are long sounds: other sockets are heard between them, and each is heard once, in its order.
import { describe, expect, it } from 'vitest';
import {
  CODED_BYTES_MAX,
  CODED_MESSAGE_BYTES,
  CodedMessages,
  SHARE_MS,
} from '../../../src/live/pace/coded-messages.ts';
import { ORGANISATION_SOUND_MS, SocketWork, WaitingWork } from '../../../src/live/socket/socket-work.ts';

const PACKET_MS = 120;
/** Of a step of a second. */
const STEP_PACKETS = Math.ceil(1_000 / PACKET_MS);
const SHARE_PACKETS = Math.ceil(SHARE_MS / PACKET_MS);
const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));

/** A socket whose packets are numbers. */
function socketOf(waiting: WaitingWork, decode: (packet: number) => void = () => {}, organisation = 'org') {
  const heard: number[] = [];
  const stopped: string[] = [];
  const faults: unknown[] = [];
  const decoder = { decodedMs: 0 };
  const sound = { decodedMs: 0, isBehind: false, decoded: (ms: number) => (sound.decodedMs += ms) };
  const pipeline = { isDecoding: false };
  const session = {
    pipeline,
    audio: () => {},
    stop: (_: string, code: string, message: string) => stopped.push(`${code}: ${message}`),
  };
  const work = new SocketWork(waiting, organisation, (error) => faults.push(error));
  const take = (bytes: Uint8Array) => {
    const packet = Buffer.from(bytes).readUInt16BE();
    decode(packet);
    heard.push(packet);
    decoder.decodedMs += PACKET_MS;
  };
  const coded = new CodedMessages({ session, decoder, sound, work, waiting, take });
  let sent = 0;
  const send = (packets: number) => {
    for (let count = 0; count < packets; count++) {
      const packet = Buffer.alloc(2);
      packet.writeUInt16BE(sent++);
      coded.message(packet);
      // A server lends its bytes for the time of the call.
      packet.fill(0xff);
    }
  };
  const settled = async () => {
    while (work.isBusy) await turnOfTheLoop();
  };
  return { heard, stopped, faults, sound, session, decoder, work, coded, send, settled };
}
const upTo = (count: number) => Array.from({ length: count }, (_, packet) => packet);

describe('packets that come at one turn of the event loop', () => {
  it('take a share of it, and a step of each later turn; other sockets get theirs', async () => {
    const waiting = new WaitingWork();
    const [flood, other] = [socketOf(waiting), socketOf(waiting)];
    flood.send(1_000);
    other.send(1);
    expect([flood.heard.length, other.heard.length]).toEqual([SHARE_PACKETS, 1]);
    for (let turn = 1; turn <= 20; turn++) {
      await turnOfTheLoop();
      expect(flood.heard.length).toBeLessThanOrEqual(SHARE_PACKETS + turn * (STEP_PACKETS + 1));
      other.send(1);
      expect(other.heard).toHaveLength(turn + 1);
    }
    await flood.settled();
    expect(flood.heard).toEqual(upTo(1_000));
    expect(flood.sound.decodedMs).toBe(1_000 * PACKET_MS);
    expect(waiting.bytes).toBe(0);
  });

  it('take turns with those of other sockets that flood', async () => {
    const waiting = new WaitingWork();
    const floods = upTo(3).map(() => socketOf(waiting));
    for (const { send } of floods) send(100);
    for (let turn = 0; turn < 6; turn++) await turnOfTheLoop();
    const heard = floods.map((flood) => flood.heard.length);
    expect(Math.max(...heard) - Math.min(...heard)).toBeLessThanOrEqual(STEP_PACKETS + 1);
    for (const { settled } of floods) await settled();
    expect(floods.map((flood) => flood.heard)).toEqual(upTo(3).map(() => upTo(100)));
  });

  it('take a bounded part of a turn per organisation, and others are decoded at once', async () => {
    const waiting = new WaitingWork();
    const floods = upTo(100).map(() => socketOf(waiting, () => {}, 'greedy'));
    const honest = socketOf(waiting, () => {}, 'honest');
    const decoded = () => floods.reduce((sum, { sound }) => sum + sound.decodedMs, 0);
    for (const { send } of floods) send(50);
    expect(decoded()).toBeLessThanOrEqual(ORGANISATION_SOUND_MS + PACKET_MS);
    for (let turn = 1; turn <= 20; turn++) {
      const before = decoded();
      honest.send(2);
      expect([honest.heard.length, honest.work.isBusy]).toEqual([2 * turn, false]);
      await turnOfTheLoop();
      expect(decoded() - before).toBeLessThanOrEqual(ORGANISATION_SOUND_MS + PACKET_MS);
    }
    for (const { settled } of floods) await settled();
    expect(floods.every(({ heard }) => heard.length === 50)).toBe(true);
    expect(waiting.bytes).toBe(0);
  });

  it('wait a turn for a backlog of another organisation, not one for each of its sockets', async () => {
    const waiting = new WaitingWork();
    for (const { send } of upTo(50).map(() => socketOf(waiting, () => {}, 'greedy'))) send(50);
    const honest = socketOf(waiting, () => {}, 'honest');
    honest.send(SHARE_PACKETS + STEP_PACKETS);
    for (let turn = 0; turn < 4; turn++) await turnOfTheLoop();
    expect(honest.heard).toHaveLength(SHARE_PACKETS + STEP_PACKETS);
  });

  it('share the memory while they wait, and an end names the limit', async () => {
    const waiting = new WaitingWork(40 * (CODED_MESSAGE_BYTES + 2));
    const socketsOf = (organisation: string) => socketOf(waiting, () => {}, organisation);
    const [greedy, second, third] = [socketsOf('a'), socketsOf('b'), socketsOf('c')];
    greedy.send(SHARE_PACKETS + 21);
    expect(greedy.stopped[0]).toMatch(/^audio_backlog_exceeded: .* as one organisation may use/);
    second.send(SHARE_PACKETS + 10);
    third.send(SHARE_PACKETS + 5);
    expect([second.stopped, third.stopped]).toEqual([[], []]);
    for (const each of [greedy, second, third]) await each.settled();
    expect(waiting.bytes).toBe(0);
  });

  it('come before and behind a text as they were sent', async () => {
    const { send, work, heard, settled } = socketOf(new WaitingWork());
    send(10);
    work.add(1, [1].values());
    let before = -1;
    work.add(
      1,
      (function* () {
        before = heard.length;
        yield 1;
      })(),
    );
    send(10);
    await settled();
    expect([before, heard]).toEqual([10, upTo(20)]);
  });

  it('decode as they arrive at a normal pace', async () => {
    const { send, work, heard } = socketOf(new WaitingWork());
    for (let turn = 0; turn < 50; turn++) {
      send(2);
      expect([work.isBusy, heard.length]).toEqual([false, 2 * turn + 2]);
      await turnOfTheLoop();
    }
  });
});

it('slows a client at a quarter of the waiting bound, and ends it beyond', async () => {
  const waiting = new WaitingWork();
  const { send, sound, stopped, heard, settled } = socketOf(waiting);
  const most = Math.floor(CODED_BYTES_MAX / (2 + CODED_MESSAGE_BYTES));
  send(SHARE_PACKETS + Math.floor(most / 4));
  expect(sound.isBehind).toBe(false);
  send(1);
  expect(sound.isBehind).toBe(true);
  send(most - Math.floor(most / 4) - 1);
  expect([stopped, waiting.bytes <= CODED_BYTES_MAX]).toEqual([[], true]);
  send(1);
  expect(stopped[0]).toMatch(/^audio_backlog_exceeded: .* on this socket/);
  await settled();
  expect([heard.length, sound.isBehind, waiting.bytes]).toEqual([SHARE_PACKETS + most, false, 0]);
});

it('continues a slow message in steps, before what follows it', async () => {
  const { session, decoder, send, heard, settled } = socketOf(new WaitingWork());
  let left = 5;
  session.audio = () => {
    expect(heard).toEqual([0]);
    decoder.decodedMs += 1_000;
    session.pipeline.isDecoding = --left > 0;
  };
  session.pipeline.isDecoding = true;
  send(2);
  expect(left).toBe(5);
  await turnOfTheLoop();
  expect(left).toBe(4);
  await settled();
  expect([left, heard]).toEqual([0, [0, 1]]);
});

it('holds nothing that waits after a fault', async () => {
  const waiting = new WaitingWork();
  const fault = new Error('The decoder is gone.');
  const { send, faults, settled } = socketOf(waiting, (packet) => {
    if (packet === 20) throw fault;
  });
  send(100);
  await settled();
  expect([faults, waiting.bytes]).toEqual([[fault], 0]);
});
