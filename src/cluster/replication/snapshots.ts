// Copies of the owner's database for replicas that cannot continue from their own: fetched piece by piece over the bus, sealed with
// a key of the gateway.
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import type { Clock } from '../../../machines/clock.ts';
import { keyFor, openBytes, sealBytes } from '../../runtime/sealing.ts';
import { StoreError } from '../../store/store-error.ts';
import { type Bus, type BusBody, BusError, type Detach } from '../bus/bus.ts';
import { accountsSnapshots } from '../bus/subjects.ts';

const PURPOSE = 'voxgate snapshots of the accounts v1';
const VERSION = 1;
const PIECE_BYTES = 384 * 1024;
/** Making a copy of a large database takes a while; a piece does not. */
const MAKE_MS = 120_000;
const PIECE_MS = 10_000;
/** A copy is removed this long after its last request. */
const KEPT_MS = 60_000;
const COPIES_MAX = 3;
const TRIES_MAX = 5;
/** Pieces that are under way at once: one is sealed while another one is written. */
const AT_ONCE = 4;
const ID = /^[\w-]{16}$/;

interface PieceRequest extends BusBody {
  type: 'accounts.snapshot';
  v: number;
  /** Of this copy; a new one is made for an id that is not known at its first piece. */
  id: string;
  offset: number;
}

interface PieceAnswer extends BusBody {
  type: 'accounts.snapshot.piece' | 'accounts.snapshot.refused';
  /** Bytes of the whole copy. */
  size: number;
  sealed: string;
  /** Of a refusal: why, in one sentence. */
  reason?: string;
}

export interface SnapshotsOptions {
  bus: Bus;
  secret: Uint8Array;
  previousSecret?: Uint8Array | undefined;
  shard: string;
  /** What it answers to; the service for replicas when absent. */
  service?: string;
  clock: Clock;
  /** Makes a copy of the database, whole and consistent, and resolves with its path. */
  make(id: string): Promise<string>;
  onFault(error: unknown): void;
}

interface Copy {
  path: string;
  file: FileHandle;
  size: number;
  timer: unknown;
}

/** Offers copies to the other replicas. */
export function serveSnapshots(options: SnapshotsOptions): Detach {
  const { bus, shard, clock, onFault } = options;
  const key = keyFor(PURPOSE, options.secret);
  const copies = new Map<string, Promise<Copy>>();

  const forget = (id: string) => {
    const copy = copies.get(id);
    copies.delete(id);
    copy?.then(
      async ({ path, file, timer }) => {
        clock.clearTimeout(timer);
        await file.close();
        await rm(path, { force: true });
      },
      () => {},
    );
  };
  const make = async (id: string): Promise<Copy> => {
    const path = await options.make(id);
    const { size } = await stat(path);
    return { path, file: await open(path), size, timer: undefined };
  };
  const answer = async (body: BusBody): Promise<PieceAnswer> => {
    const request = readRequest(body);
    if (request === undefined) return REFUSED;
    const { id, offset } = request;
    if (!copies.has(id)) {
      if (offset !== 0 || copies.size >= COPIES_MAX) return REFUSED;
      copies.set(id, make(id));
    }
    try {
      const copy = await (copies.get(id) as Promise<Copy>);
      clock.clearTimeout(copy.timer);
      copy.timer = clock.setTimeout(() => forget(id), KEPT_MS);
      const bytes = Buffer.alloc(Math.max(0, Math.min(PIECE_BYTES, copy.size - offset)));
      await copy.file.read(bytes, 0, bytes.length, offset);
      const sealed = sealBytes(key, about(id, offset, copy.size), bytes).toString('base64');
      return { type: 'accounts.snapshot.piece', size: copy.size, sealed };
    } catch (error) {
      forget(id);
      onFault(error);
      return error instanceof StoreError ? { ...REFUSED, reason: error.message } : REFUSED;
    }
  };
  const detach = bus.serve(options.service ?? accountsSnapshots(shard), answer);
  return () => {
    detach();
    for (const id of [...copies.keys()]) forget(id);
  };
}

const REFUSED: PieceAnswer = { type: 'accounts.snapshot.refused', size: 0, sealed: '' };

const about = (id: string, offset: number, size: number): string => JSON.stringify([PURPOSE, id, offset, size]);

/** Where copies come from. */
export interface SnapshotSource extends Pick<SnapshotsOptions, 'secret' | 'previousSecret' | 'shard'> {
  bus: Pick<Bus, 'address' | 'request' | 'requestOf'>;
  /** A node and its service; the owner when absent. */
  of?: { node: string; service: string };
}

/**
 * Fetches a copy into the file `path`, which is on the disk when this resolves. Rejects with BusError when there is no such node, or when
 * it cannot give one; with what the file system says when it cannot be written here.
 *
 * @param onSize called with the bytes of the whole copy before anything is written
 */
export async function fetchSnapshot(
  source: SnapshotSource,
  path: string,
  onSize: (bytes: number) => Promise<void> = async () => {},
): Promise<void> {
  const { secret, previousSecret } = source;
  const keys = [secret, ...(previousSecret === undefined ? [] : [previousSecret])].map((each) => keyFor(PURPOSE, each));
  const id = randomBytes(12).toString('base64url');
  const file = await open(path, 'wx', 0o600);
  try {
    const fetch = async (offset: number) => {
      const piece = await fetchPiece(source, { type: 'accounts.snapshot', v: VERSION, id, offset }, keys);
      if (offset === 0) await onSize(piece.size);
      await file.write(piece.bytes, 0, piece.bytes.length, offset);
      return { size: piece.size, length: piece.bytes.length };
    };
    const { size, length } = await fetch(0);
    let next = length;
    const others = async () => {
      while (next < size) {
        const offset = next;
        next += length;
        const piece = await fetch(offset);
        if (piece.size !== size || piece.length !== Math.min(length, size - offset)) {
          throw new BusError('handler_failed', 'The copy of the database of the accounts changed on its way.');
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, others));
    await file.sync();
  } finally {
    await file.close();
  }
}

async function fetchPiece(
  { bus, shard, of }: SnapshotSource,
  request: PieceRequest,
  keys: readonly Uint8Array[],
): Promise<{ bytes: Uint8Array; size: number }> {
  for (let tries = 1; ; tries++) {
    try {
      const timeoutMs = request.offset === 0 ? MAKE_MS : PIECE_MS;
      const from = bus.address('accounts.snapshot');
      const answer = await (of === undefined
        ? bus.request(accountsSnapshots(shard), from, request, timeoutMs)
        : bus.requestOf(of.node, of.service, from, request, timeoutMs));
      const { size, sealed, reason } = answer as PieceAnswer;
      for (const key of keys) {
        const bytes = openBytes(key, about(request.id, request.offset, size), Buffer.from(String(sealed), 'base64'));
        if (bytes !== undefined && (bytes.length > 0 || request.offset === size)) return { bytes, size };
      }
      const why = typeof reason === 'string' ? ` ${reason}` : '';
      throw new BusError('handler_failed', `The node that keeps the accounts gave no copy of its database.${why}`);
    } catch (error) {
      // Its first piece may be under way: an answer that was lost is asked for again under the same id.
      if (tries === TRIES_MAX || !(error instanceof BusError && error.reason === 'timeout')) throw error;
    }
  }
}

function readRequest(body: BusBody): PieceRequest | undefined {
  const { type, v, id, offset } = body as Partial<PieceRequest>;
  if (type !== 'accounts.snapshot' || v !== VERSION || typeof id !== 'string' || !ID.test(id)) return undefined;
  if (!Number.isSafeInteger(offset) || (offset as number) < 0) return undefined;
  return { type, v, id, offset: offset as number };
}
