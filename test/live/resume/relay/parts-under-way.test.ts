// Parts of large messages of all clients, on their way to other nodes.
import { describe, expect, it } from 'vitest';
import { InFlightChunks, RelaySendQueue } from '../../../../src/live/resume/relay/client-end.ts';

const MIB = 1024 * 1024;
const OWN_BYTES = MIB / 4;
const CLIENTS = 40;

function rig() {
  const parts = new InFlightChunks();
  const clients = Array.from({ length: CLIENTS }, () => {
    const sent = { bytes: 0, texts: 0 };
    const send = ({ type }: { type: string }, { byteLength }: Uint8Array) => {
      if (type === 'relay.part') sent.bytes += byteLength;
      else sent.texts++;
    };
    const handingOn = new RelaySendQueue({ send, parts, waiting: { count: () => true }, organisationId: 'org' });
    handingOn.add(new Uint8Array(2 * MIB), true, () => {});
    return { handingOn, sent };
  });
  return { parts, clients, sent: () => clients.map(({ sent }) => sent.bytes) };
}

describe('large messages of many clients', () => {
  it('keep 2 MiB in flight per organisation, and a quarter of a MiB each', () => {
    const { parts, sent } = rig();
    expect(sent()).toEqual(Array.from({ length: CLIENTS }, (_, at) => (at < 8 ? OWN_BYTES : 0)));
    expect(parts.bytes).toBe(2 * MIB);
  });

  it('leave room for those of other organisations, though their sessions take nothing', () => {
    const { parts } = rig();
    for (const organisationId of ['second', 'third']) {
      let sentBytes = 0;
      const send = (_: unknown, { byteLength }: Uint8Array) => {
        sentBytes += byteLength;
      };
      const handingOn = new RelaySendQueue({ send, parts, waiting: { count: () => true }, organisationId });
      handingOn.add(new Uint8Array(8 * MIB), true, () => {});
      while (handingOn.isWaiting) {
        const before = sentBytes;
        handingOn.partTaken(OWN_BYTES);
        expect(sentBytes - before).toBeGreaterThan(0);
      }
      expect(sentBytes).toBe(8 * MIB);
    }
    expect(parts.bytes).toBeLessThanOrEqual(4 * MIB);
  });

  it('take turns, arrive complete in the end, and leave nothing in flight', () => {
    const { parts, clients, sent } = rig();
    const least: number[] = [];
    while (parts.bytes > 0) {
      const before = sent();
      for (const { handingOn, sent } of clients) {
        const underWay = handingOn.bytes - (2 * MIB - sent.bytes);
        if (underWay > 0) handingOn.partTaken(underWay);
      }
      least.push(Math.min(...sent()) - Math.min(...before));
    }
    expect(least.slice(0, 3).every((bytes) => bytes > 0)).toBe(true);
    expect(sent()).toEqual(Array(CLIENTS).fill(2 * MIB));
  });

  it('leave room for a client that speaks', () => {
    const { parts } = rig();
    const spoken = { bytes: 0 };
    const send = (_: unknown, { byteLength }: Uint8Array) => {
      spoken.bytes += byteLength;
    };
    const speaker = new RelaySendQueue({ send, parts, waiting: { count: () => true }, organisationId: 'org' });
    speaker.add(new Uint8Array(3_200), true, () => {});
    expect(spoken.bytes).toBe(3_200);
  });

  it('free what was in flight when their client has left', () => {
    const { parts, clients, sent } = rig();
    for (const { handingOn } of clients.slice(0, 8)) handingOn.clear();
    expect(sent()[8]).toBe(OWN_BYTES);
    for (const { handingOn } of clients) handingOn.clear();
    expect(parts.bytes).toBe(0);
  });
});
