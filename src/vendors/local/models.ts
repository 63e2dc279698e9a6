// Catalogue rows of the embedded recogniser: open dictation in English, and grammars, which say that they take none.

import { type Static, Type } from '@sinclair/typebox';
import { modelCards, processedHere } from '../kit/cards.ts';
import { exactly } from '../kit/options.ts';
import type { ModelCard } from '../kit/provider.ts';
import { kindInfo, type LocalModel } from './own-model.ts';

const COMMANDS =
  'Numbers, times, dates, yes and no, home and navigation commands; or a JSGF grammar of your own in `provider_params.grammar`.';
const ALIGNMENT = 'Finds the times of the words of a known text, given as `provider_params.align_text`.';
const FILES =
  'Files: WAV, AIFF, AU, CAF or Wave64 without compression, MP3, MP2, FLAC, Ogg, or WebM with Opus; no AAC or M4A.';
const NO_DICTATION = `${FILES} No open dictation.`;
const FILE_SECONDS_MAX = 4 * 3_600;

// Measured by `npm run bench -- recogniser 30`; docs/guides/local-recogniser.md has the whole table. No row for French digits: 37 %
// were right. People's voices were not measured.
const row = (id: string, language: string, name: string, description: string) => ({
  id,
  name,
  description,
  languages: [language],
  batch: '0',
  live: '0',
});

const forOnePurpose = (...parts: Parameters<typeof row>) => ({ ...row(...parts), isForOnePurpose: true as const });

const common: Parameters<typeof modelCards>[1] = {
  created: 1_763_596_800,
  capabilities: {
    diarization: false,
    word_timestamps: true,
    interim_results: true,
    formatting: false,
    redaction: false,
    language_detection: false,
  },
  sampleRates: [16_000],
  // A small file may hold days of sound.
  fileSecondsMax: FILE_SECONDS_MAX,
  fileFormats: ['wav', 'mp3', 'flac', 'ogg', 'webm', 'mp2', 'aiff', 'au', 'caf', 'w64', 'rifx'],
  price: { free: true },
  priceSource: { url: 'this project: it runs on your own machine', date: '2026-11-20' },
  processing: processedHere,
};

export const models = modelCards('local', common, [
  {
    ...row(
      'dictation-en',
      'en',
      'Dictation, English',
      `Open English speech, with punctuation, on this machine and without a network. Words have estimated times and no confidence. ${FILES}`,
    ),
    can: { formatting: true },
  },
  forOnePurpose(
    'commands-en',
    'en',
    'Commands, English',
    `${COMMANDS} Of random commands from the grammar, 93 % were completely right in the four clearest voices of a synthesiser, 32 % in six ordinary ones. ${NO_DICTATION}`,
  ),
  forOnePurpose(
    'digits-en',
    'en',
    'Digits, English',
    `Strings of digits. Of random strings from the grammar, 81 % were right in the four clearest voices of a synthesiser, about one in five in ordinary ones. ${NO_DICTATION}`,
  ),
  forOnePurpose('align-en', 'en', 'Alignment, English', `${ALIGNMENT} ${NO_DICTATION}`),
  forOnePurpose(
    'commands-fr',
    'fr',
    'Commands, French',
    `${COMMANDS} Of random commands from the grammar, 86 % were completely right in the three clearest voices of a synthesiser, 53 % in four ordinary ones. ${NO_DICTATION}`,
  ),
  forOnePurpose('align-fr', 'fr', 'Alignment, French', `${ALIGNMENT} ${NO_DICTATION}`),
]);

/** The rows of the operator's own models. */
export const ownCards = (own: readonly LocalModel[]): readonly ModelCard[] =>
  modelCards(
    'local',
    common,
    own.map(({ name, title, description, languages, modes, model }) => ({
      id: name,
      name: title ?? name,
      description: description ?? `A model of this gateway's own, on this machine (${model.kind}).`,
      languages,
      ...(modes.includes('batch') ? { batch: '0' } : {}),
      ...(modes.includes('live') ? { live: '0' } : {}),
      can: { formatting: kindInfo(model.kind).formatting === true },
      isWhisper: model.kind === 'whisper',
      ...(model.sampleRate === undefined ? {} : { sampleRates: [model.sampleRate] }),
    })),
  );

/** Silence that ends a turn of dictation, when nothing else is asked for. */
export const ENDPOINTING_MS = 350;

export const DictationOptions = exactly({
  endpointing: Type.Optional(
    Type.Integer({
      minimum: 250,
      maximum: 5_000,
      description: `Milliseconds of silence that end a turn; ${ENDPOINTING_MS} when absent.`,
    }),
  ),
});

// `provider_params` of the embedded recogniser. What a schema cannot say (syntax, unknown words, cost) the recogniser checks.
export const GrammarOptions = exactly({
  grammar: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 16_384,
      description:
        'A JSGF grammar to listen for instead of the built-in one; its words must be in the dictionary. No imports, no rule that refers to itself.',
    }),
  ),
});
export type GrammarOptions = Static<typeof GrammarOptions>;

export const AlignOptions = exactly({
  align_text: Type.String({
    minLength: 1,
    maxLength: 8_192,
    description: 'The words that are spoken; their times are returned.',
  }),
});
export type AlignOptions = Static<typeof AlignOptions>;
