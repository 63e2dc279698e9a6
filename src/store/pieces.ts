// Contents that are too large for one call, in pieces: each piece is one call, and the operation that they are for takes all of them
// at once, so that a content is there as a whole or not at all. Pieces that nothing takes expire.
import { type Asynchronous, first, type Operations, reads, writes } from './operation.ts';
import { StoreError } from './store-error.ts';
import type { TableContext } from './table-context.ts';

/** Sealed twice in base64, as a call from another node is, a piece fits into one message of the bus. */
export const PIECE_BYTES_MAX = 352 * 1024;
/** Of one content: 44 MiB. */
export const PIECES_MAX = 128;
/** Of one organisation, those that nothing has taken yet. */
export const WAITING_BYTES_MAX = 64 * 1024 * 1024;
/** From the last piece on. */
export const WAITING_MS = 600_000;
const CONTENT_ID = /^[\w ./:-]{1,100}$/;
/** Expired pieces that go with each that comes. */
const SWEPT_MAX = 4;

export interface PieceCalls {
  /** Keeps a piece for a while; the same one again is the same. Throws `invalid`, `not_found` or `overflow`. */
  putPiece(organisationId: string, contentId: string, piece: number, bytes: Uint8Array): void;
  /** Also before it is taken. Undefined when it is not there. */
  findPiece(organisationId: string, contentId: string, piece: number): Uint8Array | undefined;
}

export type PieceStore = Asynchronous<PieceCalls>;

export const PIECE_OPERATIONS = {
  putPiece: writes(first('text', 'text', 'number', 'bytes')),
  findPiece: reads(first('text', 'text', 'number')),
} as const satisfies Operations<PieceCalls>;

/** What other tables do with pieces, in their own transaction. */
export interface Pieces {
  /** Their bytes together. Throws `conflict` unless all of them are there, and no other. */
  measurePieces(organisationId: string, contentId: string, pieces: number): number;
  /** They belong to something now, and expire no more. */
  takePieces(organisationId: string, contentId: string): void;
  removePieces(organisationId: string, contentId: string): void;
  /** Removes some of those that nothing has taken in time, and returns how many. */
  expirePieces(max: number): number;
  /** Whether there are such. */
  hasExpiredPieces(): boolean;
}

interface Totals {
  count: number;
  last: number | null;
  bytes: number;
}

type Context = Pick<TableContext, 'database' | 'nowMs'>;

export function createPieceTables({ database, nowMs }: Context): PieceCalls & Pieces {
  const hasOrganisation = database.prepare<[string], number>('SELECT 1 FROM organisations WHERE id = ?').pluck();
  const put = database.prepare<{
    organisationId: string;
    contentId: string;
    piece: number;
    bytes: Uint8Array;
    expiresAtMs: number;
  }>(
    `INSERT INTO pieces (organisation_id, content_id, piece, bytes, expires_at_ms)
     VALUES (@organisationId, @contentId, @piece, @bytes, @expiresAtMs)
     ON CONFLICT (organisation_id, content_id, piece) DO UPDATE SET bytes = @bytes WHERE expires_at_ms IS NOT NULL`,
  );
  const postpone = database.prepare<[number, string, string]>(
    'UPDATE pieces SET expires_at_ms = ? WHERE organisation_id = ? AND content_id = ? AND expires_at_ms IS NOT NULL',
  );
  const waiting = database
    .prepare<[string], number>(
      'SELECT coalesce(sum(length(bytes)), 0) FROM pieces WHERE organisation_id = ? AND expires_at_ms IS NOT NULL',
    )
    .pluck();
  const find = database
    .prepare<[string, string, number], Uint8Array>(
      'SELECT bytes FROM pieces WHERE organisation_id = ? AND content_id = ? AND piece = ?',
    )
    .pluck();
  const totals = database.prepare<[string, string], Totals>(
    `SELECT count(*) AS count, max(piece) AS last, coalesce(sum(length(bytes)), 0) AS bytes
     FROM pieces WHERE organisation_id = ? AND content_id = ?`,
  );
  const take = database.prepare<[string, string]>(
    'UPDATE pieces SET expires_at_ms = NULL WHERE organisation_id = ? AND content_id = ?',
  );
  const remove = database.prepare<[string, string]>('DELETE FROM pieces WHERE organisation_id = ? AND content_id = ?');
  const sweep = database.prepare<[number, number]>(
    `DELETE FROM pieces WHERE number IN
       (SELECT number FROM pieces WHERE expires_at_ms <= ? ORDER BY expires_at_ms, number LIMIT ?)`,
  );
  const hasExpired = database
    .prepare<[number], number>('SELECT EXISTS (SELECT 1 FROM pieces WHERE expires_at_ms <= ?)')
    .pluck();
  const expirePieces = (max: number) => sweep.run(nowMs(), max).changes;
  return {
    putPiece: database.transaction((organisationId: string, contentId: string, piece: number, bytes: Uint8Array) => {
      requirePiece(contentId, piece, bytes);
      if (hasOrganisation.get(organisationId) === undefined) {
        throw new StoreError('not_found', 'There is no such organisation.');
      }
      expirePieces(SWEPT_MAX);
      if ((waiting.get(organisationId) as number) + bytes.length > WAITING_BYTES_MAX) {
        throw new StoreError('overflow', 'Too much of this organisation waits to be kept: try again in a moment.');
      }
      const expiresAtMs = nowMs() + WAITING_MS;
      put.run({ organisationId, contentId, piece, bytes, expiresAtMs });
      postpone.run(expiresAtMs, organisationId, contentId);
    }),
    findPiece: (organisationId, contentId, piece) => find.get(organisationId, contentId, piece),
    measurePieces(organisationId, contentId, pieces) {
      const { count, last, bytes } = totals.get(organisationId, contentId) as Totals;
      if (count === pieces && last === pieces - 1) return bytes;
      throw new StoreError('conflict', `${count} of ${pieces} pieces of the content are there.`);
    },
    takePieces: (organisationId, contentId) => void take.run(organisationId, contentId),
    removePieces: (organisationId, contentId) => void remove.run(organisationId, contentId),
    expirePieces,
    hasExpiredPieces: () => hasExpired.get(nowMs()) === 1,
  };
}

function requirePiece(contentId: string, piece: number, bytes: Uint8Array): void {
  const isOne = CONTENT_ID.test(contentId) && Number.isInteger(piece) && piece >= 0 && piece < PIECES_MAX;
  if (isOne && bytes.length > 0 && bytes.length <= PIECE_BYTES_MAX) return;
  throw new StoreError(
    'invalid',
    `A piece has a number below ${PIECES_MAX} and 1 to ${PIECE_BYTES_MAX} bytes; this one has the number ${piece} and ${bytes.length} bytes.`,
  );
}

/** The pieces of a content. */
export function piecesOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / PIECE_BYTES_MAX);
  // Copies: what is sent to another thread would take the whole content with it.
  return Array.from({ length: count }, (_, at) => bytes.slice(at * PIECE_BYTES_MAX, (at + 1) * PIECE_BYTES_MAX));
}

/** Stores a content in pieces, one after the other, and returns how many. Rejects with the StoreError of the first that fails. */
export async function putPieces(
  store: Pick<PieceStore, 'putPiece'>,
  organisationId: string,
  contentId: string,
  bytes: Uint8Array,
): Promise<number> {
  const pieces = piecesOf(bytes);
  for (const [piece, each] of pieces.entries()) await store.putPiece(organisationId, contentId, piece, each);
  return pieces.length;
}

/** The whole content; undefined when a piece of it is gone. Rejects with StoreError. */
export async function findContent(
  store: Pick<PieceStore, 'findPiece'>,
  organisationId: string,
  contentId: string,
  pieces: number,
): Promise<Buffer | undefined> {
  const found: Uint8Array[] = [];
  for (let piece = 0; piece < pieces; piece++) {
    const bytes = await store.findPiece(organisationId, contentId, piece);
    if (bytes === undefined) return undefined;
    found.push(bytes);
  }
  return Buffer.concat(found);
}
