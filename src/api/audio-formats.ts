// Formats of audio: the files that are recognised, and linear16, in which audio is held and sent on.

/** By the usual extension of their names. */
export const FILE_FORMATS = [
  'wav',
  'mp3',
  'flac',
  'ogg',
  'webm',
  'm4a',
  'aac',
  'mp2',
  'aiff',
  'au',
  'caf',
  'w64',
  'rifx',
  'amr',
  'wma',
] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** What every provider of files takes. */
export const COMMON_FILE_FORMATS: readonly FileFormat[] = ['wav', 'mp3', 'flac', 'ogg', 'webm', 'm4a'];

/** For people. */
export const FILE_FORMAT_TITLES: Readonly<Record<FileFormat, string>> = {
  wav: 'WAV',
  mp3: 'MP3',
  flac: 'FLAC',
  ogg: 'Ogg',
  webm: 'WebM or Matroska',
  m4a: 'MP4, M4A, MOV or 3GP',
  aac: 'AAC (ADTS)',
  mp2: 'MP2',
  aiff: 'AIFF',
  au: 'AU',
  caf: 'CAF',
  w64: 'Wave64',
  rifx: 'WAV (big-endian)',
  amr: 'AMR',
  wma: 'WMA',
};

/** Of linear16. */
export const BYTES_PER_SAMPLE = 2;
