// Catalogue rows of OpenAI's models, and what sets them apart on the wire.
import { COMMON_FILE_FORMATS } from '../../api/audio-formats.ts';
import { bearer, keyCheck, providerApi, withVersion } from '../kit/api.ts';
import { at, modelCards, processedIn } from '../kit/cards.ts';
import { LANGUAGES } from '../kit/languages/whisper-languages.ts';

/** A key belongs to a project, which may belong to a region: https://developers.openai.com/api/docs/guides/data-residency */
export const ENDPOINTS = { names: ['us', 'eu'], oneKey: false } as const;

export const api = providerApi({
  url: ({ fields }) => `https://${fields?.region === undefined ? '' : `${fields.region}.`}api.openai.com`,
  base: withVersion,
  headers: bearer,
});

/**
 * It lists the models to whoever has the key: https://platform.openai.com/docs/api-reference/models/list. A restricted key that
 * may transcribe, and not list models, is refused this request with the same status.
 */
export const credentialCheck = keyCheck(api, '/models', {}, ({ body }) => !/missing scopes/i.test(body));

/** Hertz of linear16 in a Realtime session; it takes no other. */
export const LIVE_RATE = 24_000;

/** What sets a model apart on the wire. */
export interface ModelTraits {
  /** Whether the server can end turns. Without it nothing is final before the gateway commits. */
  serverTurns: boolean;
  /** Takes `languages` and `keywords`, in place of `language`. */
  hints: boolean;
  /** The richest answer to a file; undefined for models that take none. */
  file: 'json' | 'verbose_json' | 'diarized_json' | undefined;
}

const TRAITS: Readonly<Record<string, ModelTraits>> = {
  'gpt-live-transcribe': { serverTurns: false, hints: true, file: undefined },
  'gpt-realtime-whisper': { serverTurns: false, hints: false, file: undefined },
  'gpt-transcribe': { serverTurns: true, hints: true, file: 'json' },
  'gpt-4o-transcribe': { serverTurns: true, hints: false, file: 'json' },
  'gpt-4o-mini-transcribe': { serverTurns: true, hints: false, file: 'json' },
  'gpt-4o-transcribe-diarize': { serverTurns: true, hints: false, file: 'diarized_json' },
  'whisper-1': { serverTurns: true, hints: false, file: 'verbose_json' },
};

/** The traits of a model by its part of the slug; undefined for names that are none of these. */
export const traitsOf = (model: string): ModelTraits | undefined =>
  Object.hasOwn(TRAITS, model) ? TRAITS[model] : undefined;

/** Models that the Realtime API takes here. */
export const isLive = (model: string): boolean =>
  traitsOf(model) !== undefined && model !== 'gpt-4o-transcribe-diarize';

/** The file formats that OpenAI tells apart by the extension of the file's name. */
export const FILE_EXTENSIONS: readonly string[] = ['flac', 'mp3', 'mp4', 'mpeg', 'mpga', 'm4a', 'ogg', 'wav', 'webm'];

/** Published as 25 MB of a file; the server counts the whole form, and its message names this number. */
export const FORM_BYTES_MAX = 26_214_400;
/** A file of this size was taken: what is left is for the other fields of the form. */
const FILE_BYTES_MAX = FORM_BYTES_MAX - 65_536;
/** Reported by the server's refusals; the documents name no limit. */
export const FILE_SECONDS_MAX = 1_400;

/** Files are answered with the text and nothing else. */
const TEXT_ALONE = { segment_timestamps: false };
const ANY = ['*'];
const LATE = 'Live, its interim results come after the end of a turn.';
const GOING = 'OpenAI has announced its end for 2027-02-26.';

/** Of `/v1/audio/transcriptions` nothing is kept, of `/v1/realtime` for 30 days, except for accounts with zero data retention. */
const SOURCE = { url: 'https://developers.openai.com/api/docs/guides/your-data', date: '2026-11-23' };
const FILES = { modes: ['batch'], retention: 'none' } as const;
const WHEREVER = processedIn(
  SOURCE,
  [{ region: 'global' }],
  [FILES, { modes: ['live'], retention: 'kept' }, { modes: ['live'], retention: 'none', agreement: true }],
);
/** Files of these models are transcribed in the region of the key's project; no document says so of their live sessions. */
const REGIONAL = [...WHEREVER, ...processedIn(SOURCE, [at('us'), { region: 'europe', endpoints: ['eu'] }], [FILES])];

export const models = modelCards(
  'openai',
  {
    created: 1_763_596_800,
    capabilities: {
      diarization: false,
      word_timestamps: false,
      interim_results: true,
      formatting: true,
      redaction: false,
      language_detection: true,
    },
    sampleRates: [LIVE_RATE],
    fileBytesMax: FILE_BYTES_MAX,
    // https://platform.openai.com/docs/guides/speech-to-text
    fileFormats: COMMON_FILE_FORMATS,
    priceSource: { url: 'https://developers.openai.com/api/docs/pricing', date: '2026-08-01' },
    processing: WHEREVER,
  },
  [
    {
      id: 'gpt-live-transcribe',
      name: 'GPT Live Transcribe',
      description:
        'Live, with interim results while someone speaks; takes languages and keywords. Turns end by silence.',
      languages: ANY,
      live: '0.017',
    },
    {
      id: 'gpt-realtime-whisper',
      name: 'GPT Realtime Whisper',
      description: 'Live, with interim results while someone speaks; its delay can be chosen. Turns end by silence.',
      languages: ANY,
      live: '0.017',
    },
    {
      id: 'gpt-transcribe',
      name: 'GPT Transcribe',
      description: `Files and live; takes languages and keywords. ${LATE}`,
      languages: ANY,
      batch: '0.0045',
      live: '0.0045',
      can: TEXT_ALONE,
    },
    {
      id: 'gpt-4o-transcribe',
      processing: REGIONAL,
      name: 'GPT-4o Transcribe',
      description: `Files and live. ${LATE} ${GOING}`,
      languages: LANGUAGES,
      batch: '0.006',
      live: '0.006',
      fileSecondsMax: FILE_SECONDS_MAX,
      can: TEXT_ALONE,
    },
    {
      id: 'gpt-4o-mini-transcribe',
      processing: REGIONAL,
      name: 'GPT-4o mini Transcribe',
      description: `Files and live, at half the price of its larger sibling. ${LATE} ${GOING}`,
      languages: LANGUAGES,
      batch: '0.003',
      live: '0.003',
      fileSecondsMax: FILE_SECONDS_MAX,
      can: TEXT_ALONE,
    },
    {
      id: 'gpt-4o-transcribe-diarize',
      name: 'GPT-4o Transcribe Diarize',
      description: `Files, with speakers; live, each utterance is a separate file, with speakers within it. ${GOING}`,
      languages: LANGUAGES,
      batch: '0.006',
      can: { diarization: true, interim_results: false },
      fileSecondsMax: FILE_SECONDS_MAX,
    },
    {
      id: 'whisper-1',
      processing: REGIONAL,
      name: 'Whisper',
      description: `Files, with the times of words, and live with finals only. ${GOING}`,
      languages: LANGUAGES,
      batch: '0.006',
      live: '0.006',
      can: { word_timestamps: true, interim_results: false },
    },
  ],
);
