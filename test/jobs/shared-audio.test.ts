// Audio of jobs where other nodes can have it: what has no room there, or is not taken, stays with its node, and says so.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { BusError } from '../../src/cluster/bus/bus.ts';
import { SharedObjectGone, type SharedObjects } from '../../src/cluster/bus/shared-objects.ts';
import { SharedAudio } from '../../src/jobs/shared-audio.ts';

const CONTENT = Buffer.from('some audio');
const BYTES = CONTENT.length;
const refused = new BusError('handler_failed', 'NATS refused it.');

function rigOf({ bytesMax = 10 * BYTES, fileBytesMax = 2 * BYTES } = {}, failing: Partial<SharedObjects> = {}) {
  const clock = new SimulatedClock();
  const kept = new Map<string, Buffer>();
  const unshared: unknown[] = [];
  const faults: unknown[] = [];
  const objects: SharedObjects = {
    put: async (name, _, content) => void kept.set(name, await buffer(content)),
    async *read(name) {
      yield kept.get(name) ?? Buffer.alloc(0);
    },
    remove: async (name) => void kept.delete(name),
    ...failing,
  };
  const audio = new SharedAudio({
    ...{ objects, clock, bytesMax, fileBytesMax },
    onUnshared: (why) => unshared.push(why),
    onFault: (error) => faults.push(error),
  });
  const share = (name: string, organisationId = 'org_1', size = BYTES) =>
    audio.share(organisationId, name, { size, read: () => Readable.from([CONTENT]) });
  return { clock, kept, unshared, faults, audio, share };
}

const calm = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('shared audio', () => {
  it('is there for other nodes, and counted until it is given up', async () => {
    const { audio, share, kept, unshared } = rigOf();
    expect(await share('a')).toBe(true);
    expect([kept.get('a'), audio.used, unshared]).toEqual([CONTENT, BYTES, []]);
    const file = audio.open('a', BYTES, { filename: 'a.wav', contentType: undefined });
    expect(await buffer(file.read())).toEqual(CONTENT);
    audio.leave('org_1', BYTES);
    await audio.remove('a');
    expect([kept.size, audio.used]).toEqual([0, 0]);
  });

  it.each([
    ['a file that is too large', 'too_large', 3 * BYTES, {}],
    ['a file without room among the others', 'full', 2 * BYTES, { bytesMax: BYTES }],
    ['a refusal of NATS', 'refused', BYTES, {}],
  ])('is left out, with an event, for %s', async (_, why, size, bounds) => {
    const failing = why === 'refused' ? { put: () => Promise.reject(refused) } : {};
    const { audio, share, unshared } = rigOf(bounds, failing);
    expect([await share('a', 'org_1', size), unshared, audio.used]).toEqual([false, [why], 0]);
  });

  it('of one organisation leaves room for others', async () => {
    const { share, unshared } = rigOf();
    const shared = await Promise.all(Array.from({ length: 10 }, (_, at) => share(`a${at}`)));
    expect([shared.filter(Boolean).length, unshared.length]).toEqual([5, 5]);
    expect(await share('b', 'org_2')).toBe(true);
  });

  it('is given up where it takes too long', async () => {
    const put: SharedObjects['put'] = (_name, _bytes, _content, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { clock, share, unshared, audio } = rigOf({}, { put });
    const shared = share('a');
    await calm();
    clock.increment(20_000);
    expect([await shared, unshared, audio.used]).toEqual([false, ['refused'], 0]);
  });

  it('that cannot be removed is left to its time', async () => {
    const { audio, faults } = rigOf({}, { remove: () => Promise.reject(refused) });
    await audio.remove('a');
    expect(faults).toEqual([refused]);
  });
});

describe('audio of another node', () => {
  const { signal } = new AbortController();

  it('is requested again while NATS does not answer', async () => {
    const { audio, clock } = rigOf();
    const failures = [new BusError('disconnected', 'away'), new BusError('timeout', 'late')];
    const kept = audio.keep(async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return 'kept';
    }, signal);
    for (let seconds = 0; seconds < 4; seconds++) {
      await calm();
      clock.increment(1_000);
    }
    expect(await kept).toBe('kept');
  });

  it('is given up after some minutes, at once where it is gone, and with its job', async () => {
    const { audio, clock } = rigOf();
    const reason = (failed: Promise<unknown>) => failed.catch((error) => error);
    const late = reason(audio.keep(() => Promise.reject(refused), signal));
    for (let tries = 0; tries < 12; tries++) {
      await calm();
      clock.increment(30_000);
    }
    expect(await late).toBe(refused);
    const gone = new SharedObjectGone('gone');
    expect(await reason(audio.keep(() => Promise.reject(gone), signal))).toBe(gone);
    const end = new AbortController();
    const ended = reason(audio.keep(() => Promise.reject(refused), end.signal));
    await calm();
    end.abort('removed');
    expect(await ended).toBe('removed');
  });
});
