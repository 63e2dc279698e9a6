// Contents in pieces: what a piece may be, how much may wait, and how a content is put together again.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  findContent,
  PIECE_BYTES_MAX,
  PIECES_MAX,
  putPieces,
  WAITING_BYTES_MAX,
  WAITING_MS,
} from '../../src/store/pieces.ts';
import { type DirectStore, directStore } from '../fakes/store/direct-store.ts';

let rig: DirectStore;
let us: string;
beforeEach(() => {
  rig = directStore();
  us = rig.customer().organisationId;
});

const content = (bytes: number) => Uint8Array.from({ length: bytes }, (_, at) => at % 251);

describe('a content', () => {
  it('comes back unchanged, for its own organisation', async () => {
    const whole = content(2 * PIECE_BYTES_MAX + 1);
    expect(await putPieces(rig.store, us, 'job a', whole)).toBe(3);
    expect(await findContent(rig.store, us, 'job a', 3)).toEqual(Buffer.from(whole));
    expect(await findContent(rig.store, us, 'job a', 4)).toBeUndefined();
    expect(await findContent(rig.store, rig.customer().organisationId, 'job a', 3)).toBeUndefined();
  });

  it('is the same when a piece is put twice, because an answer was lost', async () => {
    await rig.store.putPiece(us, 'job a', 0, content(9));
    await putPieces(rig.store, us, 'job a', content(10));
    expect(await findContent(rig.store, us, 'job a', 1)).toEqual(Buffer.from(content(10)));
  });

  it('expires when nothing takes it, from its last piece on', async () => {
    await rig.store.putPiece(us, 'job a', 0, content(9));
    rig.clock.nowMs += WAITING_MS - 1;
    await rig.store.putPiece(us, 'job a', 1, content(9));
    rig.clock.nowMs += WAITING_MS - 1;
    expect(await rig.store.findPiece(us, 'job a', 0)).toHaveLength(9);
    rig.clock.nowMs += 1;
    await rig.store.putPiece(us, 'job b', 0, content(9));
    expect(await rig.store.findPiece(us, 'job a', 0)).toBeUndefined();
  });
});

describe('a piece', () => {
  it.each<[string, string, number, number]>([
    ['no bytes', 'job a', 0, 0],
    ['too many bytes', 'job a', 0, PIECE_BYTES_MAX + 1],
    ['a number below 0', 'job a', -1, 1],
    ['a number that is too large', 'job a', PIECES_MAX, 1],
    ['half a number', 'job a', 0.5, 1],
    ['no name', '', 0, 1],
    ['an odd name', 'job\n', 0, 1],
  ])('is refused with %s', async (_, id, piece, bytes) => {
    await expect(rig.store.putPiece(us, id, piece, content(bytes))).rejects.toMatchObject({ reason: 'invalid' });
  });

  it('is refused for an organisation that is not there', async () => {
    await expect(rig.store.putPiece('org_none', 'job a', 0, content(1))).rejects.toMatchObject({ reason: 'not_found' });
  });

  it(`is refused once ${WAITING_BYTES_MAX} bytes of its organisation wait, and accepted for others`, async () => {
    const large = content(PIECE_BYTES_MAX);
    const count = Math.floor(WAITING_BYTES_MAX / PIECE_BYTES_MAX);
    for (let at = 0; at < count; at++) await rig.store.putPiece(us, `job ${at % 2}`, Math.floor(at / 2), large);
    await expect(rig.store.putPiece(us, 'job c', 0, large)).rejects.toMatchObject({ reason: 'overflow' });
    await rig.store.putPiece(rig.customer().organisationId, 'job c', 0, large);
    rig.clock.nowMs += WAITING_MS;
    await rig.store.putPiece(us, 'job c', 0, content(1));
  });
});
