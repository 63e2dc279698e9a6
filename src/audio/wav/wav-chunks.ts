// Chunks of a WAV file have an even length, except in files of writers that leave the padding out.

/** Writers that do not know the length of their samples yet leave one near two gigabytes or more. */
export const UNKNOWN_BYTES_MIN = 0x7fff_0000;

/** Names that a chunk behind another one may have. */
const NAMES = [
  'data',
  'fmt ',
  'LIST',
  'fact',
  'cue ',
  'bext',
  'id3 ',
  'ID3 ',
  'junk',
  'JUNK',
  'smpl',
  'inst',
  'PEAK',
  'iXML',
  'list',
  'FLLR',
  'PAD ',
  'DISP',
  'cart',
  'acid',
  'axml',
  'chna',
  'plst',
  'umid',
  'slnt',
  '_PMX',
  'afsp',
  'LGWV',
];

export const isChunkName = (bytes: Uint8Array): boolean =>
  bytes.length >= 4 && NAMES.includes(String.fromCharCode(...bytes.subarray(0, 4)));

/**
 * Bytes between the end of a chunk and the next one.
 *
 * @param next what follows the body
 */
export const paddingAfter = (size: number, next: Uint8Array): number => (size % 2 === 0 || isChunkName(next) ? 0 : 1);
