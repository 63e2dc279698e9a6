// Objects that nodes share over a real nats-server: whole, sealed, bounded, and gone when they are removed.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type NatsObjectsOptions,
  natsObjects,
  OBJECT_PIECE_BYTES,
} from '../../../src/cluster/bus/nats/jetstream/shared-objects.ts';
import { SharedObjectGone, type SharedObjects } from '../../../src/cluster/bus/shared-objects.ts';
import { openLink, type TestLink } from '../../fakes/network/nats-link.ts';
import { type NatsServer, natsServerIsHere, startNatsServer } from '../../fakes/network/nats-server.ts';
import { seeded } from '../../fakes/random.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const OPTIONS: NatsObjectsOptions = { replicas: 1, bytesMax: 64 * 1024 * 1024, keptMs: 60_000 };
const { signal } = new AbortController();
const random = seeded(3);
const bytesOf = (count: number) => Buffer.from(Array.from({ length: count }, () => random.integer(0, 255)));

const readAll = (objects: SharedObjects, name: string, bytes: number): Promise<Buffer> =>
  buffer(objects.read(name, bytes));

/** In chunks of other sizes than the pieces. */
const streamOf = (content: Buffer, chunkBytes = 50_000) =>
  Readable.from(
    Array.from({ length: Math.ceil(content.length / chunkBytes) }, (_, at) =>
      content.subarray(at * chunkBytes, (at + 1) * chunkBytes),
    ),
  );

// Skipped without the program; under CI that fails.
describe.skipIf(!natsServerIsHere)('a shared object', () => {
  let server: NatsServer;
  let prefixes = 0;
  beforeAll(async () => {
    server = await startNatsServer({ jetStream: true });
  });
  afterAll(() => server.stop());

  const newPrefix = () => `objects-${prefixes++}`;
  const open = async (prefix: string, options: Partial<NatsObjectsOptions> = {}) => {
    const link = await openLink(server.url, prefix);
    return { link, objects: natsObjects(link, { ...OPTIONS, ...options }) };
  };
  const streamState = async ({ link }: TestLink) => {
    const manager = await jetstreamManager(link.connection);
    return (await manager.streams.info(`${link.prefix}-job-audio`)).state;
  };

  it.each([1, OBJECT_PIECE_BYTES - 1, OBJECT_PIECE_BYTES, 5 * OBJECT_PIECE_BYTES + 7])(
    'of %d bytes is read by another node, after a restart of the server',
    async (count) => {
      const prefix = newPrefix();
      const content = bytesOf(count);
      const { link, objects } = await open(prefix);
      await objects.put('a', count, streamOf(content), signal);
      await server.restart();
      await link.becomes(true);
      const other = await open(prefix);
      expect((await readAll(other.objects, 'a', count)).equals(content)).toBe(true);
    },
  );

  it('is removed whole by any node, and no other with it', async () => {
    const prefix = newPrefix();
    const [{ objects }, other] = [await open(prefix), await open(prefix)];
    const content = bytesOf(2 * OBJECT_PIECE_BYTES);
    for (const name of ['a', 'a-b', 'b']) await objects.put(name, content.length, streamOf(content), signal);
    await other.objects.remove('a');
    await other.objects.remove('a');
    await expect(readAll(objects, 'a', content.length)).rejects.toBeInstanceOf(SharedObjectGone);
    for (const name of ['a-b', 'b'])
      expect((await readAll(other.objects, name, content.length)).equals(content)).toBe(true);
    await objects.remove('a-b');
    await objects.remove('b');
    expect(await streamState(other.link)).toMatchObject({ messages: 0, bytes: 0 });
  });

  it('expires when nothing removes it', async () => {
    const { objects } = await open(newPrefix(), { keptMs: 1_000 });
    await objects.put('a', 3, streamOf(bytesOf(3)), signal);
    await expect
      .poll(() => readAll(objects, 'a', 3).catch((error) => error), { timeout: 10_000 })
      .toBeInstanceOf(SharedObjectGone);
  });

  it('shows NATS nothing of its content, and is not read when it was exchanged', async () => {
    const { link, objects } = await open(newPrefix());
    const content = Buffer.alloc(3 * OBJECT_PIECE_BYTES, 'hush');
    await objects.put('a', content.length, streamOf(content), signal);
    await objects.put('b', content.length, streamOf(Buffer.alloc(content.length, 'loud')), signal);
    const manager = await jetstreamManager(link.link.connection);
    const stream = `${link.link.prefix}-job-audio`;
    const subject = (name: string, piece: number) => `${link.link.prefix}.v1.job-audio.${name}.${piece}`;
    const stored = (await manager.streams.getMessage(stream, { last_by_subj: subject('b', 1) }))?.data as Uint8Array;
    expect(Buffer.from(stored).includes('loud')).toBe(false);
    for (const from of [stored, Buffer.from(stored).fill(1, 60, 61), new Uint8Array(0)]) {
      await jetstream(link.link.connection).publish(subject('a', 1), from);
      await expect(readAll(objects, 'a', content.length)).rejects.toBeInstanceOf(SharedObjectGone);
    }
    await expect(readAll(objects, 'b', content.length - 1)).rejects.toBeInstanceOf(SharedObjectGone);
  });

  it('that does not fit is refused at once, and leaves room for the next', async () => {
    const { link, objects } = await open(newPrefix(), { bytesMax: 4 * OBJECT_PIECE_BYTES });
    const large = bytesOf(8 * OBJECT_PIECE_BYTES);
    await expect(objects.put('a', large.length, streamOf(large), signal)).rejects.toMatchObject({
      reason: 'handler_failed',
      message: expect.stringContaining('maximum bytes exceeded'),
    });
    await expect.poll(async () => (await streamState(link)).messages, { timeout: 5_000 }).toBe(0);
    const small = bytesOf(2 * OBJECT_PIECE_BYTES);
    await objects.put('b', small.length, streamOf(small), signal);
    expect((await readAll(objects, 'b', small.length)).equals(small)).toBe(true);
  });

  it('has more room once a node with a larger limit has started', async () => {
    const prefix = newPrefix();
    const { objects } = await open(prefix, { bytesMax: 2 * OBJECT_PIECE_BYTES });
    const content = bytesOf(3 * OBJECT_PIECE_BYTES);
    const put = (by: SharedObjects) => by.put('a', content.length, streamOf(content), signal);
    await expect(put(objects)).rejects.toMatchObject({ reason: 'handler_failed' });
    await put((await open(prefix)).objects);
    await put(objects);
  });

  it('is given up when its content breaks off, or the signal says so', async () => {
    const { link, objects } = await open(newPrefix());
    async function* broken() {
      yield bytesOf(2 * OBJECT_PIECE_BYTES);
      throw new Error('the disk is gone');
    }
    await expect(objects.put('a', 10 * OBJECT_PIECE_BYTES, broken(), signal)).rejects.toThrow('the disk is gone');
    const end = AbortSignal.abort(new Error('too late'));
    await expect(objects.put('a', 3, streamOf(bytesOf(3)), end)).rejects.toThrow('too late');
    await expect.poll(async () => (await streamState(link)).messages, { timeout: 5_000 }).toBe(0);
  });

  it('is refused at once while NATS is away', async () => {
    const { link, objects } = await open(newPrefix());
    await objects.put('a', 3, streamOf(bytesOf(3)), signal);
    await server.kill();
    await link.becomes(false);
    await expect(objects.read('a', 3).next()).rejects.toMatchObject({ reason: 'disconnected' });
    await server.restart();
  });
});

// Skipped without the program; under CI that fails.
describe.skipIf(!natsServerIsHere)('a server that keeps no objects', () => {
  it.each([
    ['without JetStream', undefined],
    ['without room for the stream', 'max_file_store: 1MB'],
  ])('%s is left alone for a while', async (_, room) => {
    const store = JSON.stringify(temporaryDirectory());
    const config = room === undefined ? '' : `jetstream { store_dir: ${store}, ${room} }`;
    const server = await startNatsServer({ config });
    const link = await openLink(server.url);
    const objects = natsObjects(link, OPTIONS);
    const put = () => objects.put('a', 3, streamOf(bytesOf(3)), signal);
    await expect(put()).rejects.toMatchObject({ name: 'BusError' });
    const { outMsgs } = link.link.connection.stats();
    await expect(put()).rejects.toMatchObject({ name: 'BusError' });
    expect(link.link.connection.stats().outMsgs).toBe(outMsgs);
    await server.stop();
  });
});
