// Shared objects in a stream: each object in pieces, a message each, sealed with the gateway's secret for its name and place.
import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { Clock } from '../../../../../machines/clock.ts';
import { backgroundClock } from '../../../../runtime/telemetry/clock.ts';
import { BusError } from '../../bus.ts';
import { KeyRing, openEntry, sealEntry } from '../../sealing/key-ring.ts';
import { SharedObjectGone, type SharedObjects } from '../../shared-objects.ts';
import { Subjects } from '../subjects.ts';
import { ensureStream, type JetStream, type LinkedBus } from './common.ts';
import { OpenedStreams } from './opened-streams.ts';

/** Small, since live audio goes over the same connection. */
export const OBJECT_PIECE_BYTES = 128 * 1024;
const SEAL_BYTES_MAX = 4096;
/** Pieces of one object that are on their way. */
const IN_FLIGHT_MAX = 4;
/** Servers may be choosing another leader. */
const TRIES_MAX = 4;
const AGAIN_MS = 500;
/** A stream that could not be made is not asked for again before this. */
const CLOSED_MS = 30_000;
const NAME = /^[\w-]{1,64}$/;

export interface NatsObjectsOptions {
  /** Replicas of the stream. */
  replicas: number;
  /** Of all objects together. Raises the limit of a stream that exists, and does not lower it. */
  bytesMax: number;
  /** How long an object is kept that nothing removes. */
  keptMs: number;
  clock?: Clock;
}

/** The first call contacts NATS and creates the stream if it is missing. */
export function natsObjects(bus: LinkedBus, options: NatsObjectsOptions): SharedObjects {
  return new NatsObjects(bus, options);
}

class NatsObjects implements SharedObjects {
  readonly #bus: LinkedBus;
  readonly #options: NatsObjectsOptions;
  readonly #clock: Clock;
  readonly #ring: KeyRing;
  readonly #stream: string;
  readonly #subjects: Subjects;
  readonly #streams: OpenedStreams;
  #closedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(bus: LinkedBus, options: NatsObjectsOptions) {
    this.#bus = bus;
    this.#options = options;
    this.#clock = options.clock ?? backgroundClock;
    this.#ring = new KeyRing(bus.link.secrets, 'audio of jobs');
    this.#stream = `${bus.link.prefix}-job-audio`;
    this.#subjects = new Subjects(bus.link.prefix);
    this.#streams = new OpenedStreams(bus, (streams) => this.#ensure(streams));
  }

  async put(name: string, bytes: number, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const onTheirWay: Promise<void>[] = [];
    try {
      let piece = 0;
      for await (const plain of inPieces(content)) {
        signal.throwIfAborted();
        if (onTheirWay.length === IN_FLIGHT_MAX) await onTheirWay.shift();
        const sealed = sealEntry(this.#ring, placeOf(name, piece, bytes), plain);
        const sent = this.#publish(this.#subjects.jobAudio(checked(name), String(piece++)), sealed, signal);
        // It is waited for later.
        sent.catch(() => {});
        onTheirWay.push(sent);
      }
      await Promise.all(onTheirWay);
    } catch (error) {
      // What cannot be removed expires.
      void Promise.allSettled(onTheirWay).then(() => this.remove(name).catch(() => {}));
      throw error;
    }
  }

  async *read(name: string, bytes: number): AsyncGenerator<Uint8Array> {
    const coming: Promise<Buffer | undefined>[] = [];
    let next = 0;
    for (let at = 0; at < bytes; ) {
      while (coming.length < IN_FLIGHT_MAX) {
        const piece = this.#piece(name, next++, bytes);
        piece.catch(() => {});
        coming.push(piece);
      }
      const piece = await coming.shift();
      if (piece === undefined || piece.length === 0) throw new SharedObjectGone('A part of the object is not there.');
      at += piece.length;
      yield piece;
    }
  }

  async remove(name: string): Promise<void> {
    const filter = this.#subjects.jobAudio(checked(name), '*');
    await this.#streams.ask('removing the audio of a job', ({ manager }) =>
      manager.streams.purge(this.#stream, { filter }),
    );
  }

  /** The same piece again takes the place of the first. */
  async #publish(subject: string, sealed: Uint8Array, signal: AbortSignal): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#streams.ask('sharing the audio of a job', ({ client }) => client.publish(subject, sealed));
        return;
      } catch (error) {
        const isRefused = error instanceof BusError && error.reason === 'handler_failed';
        if (tries === TRIES_MAX || isRefused || signal.aborted || this.#isClosed) throw error;
        await new Promise<void>((resolve) => void this.#clock.setTimeout(() => resolve(), AGAIN_MS));
      }
    }
  }

  async #piece(name: string, piece: number, bytes: number): Promise<Buffer | undefined> {
    const subject = this.#subjects.jobAudio(checked(name), String(piece));
    const found = await this.#streams.ask('reading the audio of a job', ({ manager }) =>
      manager.streams.getMessage(this.#stream, { last_by_subj: subject }),
    );
    return found === null ? undefined : openEntry(this.#ring, placeOf(name, piece, bytes), found.data);
  }

  get #isClosed(): boolean {
    return this.#clock.now() < this.#closedUntilMs;
  }

  async #ensure({ manager }: JetStream): Promise<void> {
    if (this.#isClosed) throw new BusError('unknown_actor', 'NATS did not accept the stream for the audio of jobs.');
    const { replicas, bytesMax, keptMs } = this.#options;
    try {
      await ensureStream(manager, {
        name: this.#stream,
        subjects: [this.#subjects.jobAudio('*', '*')],
        description: 'Voxgate: audio of jobs that are not over, for another node than the one that received it',
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
        num_replicas: replicas,
        max_bytes: bytesMax,
        max_age: nanos(keptMs),
        max_msg_size: OBJECT_PIECE_BYTES + SEAL_BYTES_MAX,
        max_msgs_per_subject: 1,
        // A full stream refuses new audio and keeps that of earlier jobs.
        discard: DiscardPolicy.New,
        // Read from the leader, not from a replica that may lag behind.
        allow_direct: false,
      });
    } catch (error) {
      // A server that does not know this node's rights to it answers late, and each job would wait for that.
      if (this.#bus.isConnected) this.#closedUntilMs = this.#clock.now() + CLOSED_MS;
      throw error;
    }
  }
}

/** What a piece is sealed for: it cannot stand for another one, nor for one of another length of the object. */
const placeOf = (name: string, piece: number, bytes: number): string => `${name} ${piece} ${bytes}`;

function checked(name: string): string {
  if (NAME.test(name)) return name;
  throw new TypeError(`"${name}" cannot be the name of an object: up to 64 letters, digits, _ and -.`);
}

/** All pieces but the last have the same size. */
async function* inPieces(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let piece = Buffer.allocUnsafe(OBJECT_PIECE_BYTES);
  let used = 0;
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length; ) {
      const some = chunk.subarray(at, at + OBJECT_PIECE_BYTES - used);
      piece.set(some, used);
      used += some.length;
      at += some.length;
      if (used < OBJECT_PIECE_BYTES) continue;
      yield piece;
      piece = Buffer.allocUnsafe(OBJECT_PIECE_BYTES);
      used = 0;
    }
  }
  if (used > 0) yield piece.subarray(0, used);
}
