// Catalogue rows of the embedded recogniser. It is grammar-based: no model here takes open dictation, and each says so.
import { modelCards } from '../kit/cards.ts';

const COMMANDS =
  'Numbers, times, dates, yes and no, home and navigation commands; or a JSGF grammar of your own in `provider_params.grammar`.';
const ALIGNMENT = 'Finds the times of the words of a known text, given as `provider_params.align_text`.';
const NO_DICTATION = 'No open dictation.';

// Measured with espeak-ng at 130 words a minute, on phrases that grammars and settings were not tuned on, in the voices that the
// models understand best (those of scripts/samples.ts). On the phrases they were tuned on 89 % of English commands were right;
// in five other English voices 19 % of these. No row for French digits: 37 % were right. People's voices were not measured.
const row = (id: string, language: string, name: string, description: string) => ({
  id,
  name,
  description,
  languages: [language],
  batch: '0',
  live: '0',
});

export const models = modelCards(
  'local',
  {
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
    price: { free: true },
    priceSource: { url: 'this project: it runs on your own machine', date: '2026-11-20' },
  },
  [
    row(
      'commands-en',
      'en',
      'Commands, English',
      `${COMMANDS} Of 136 commands in the four clearest voices of a synthesiser 74 % were right word for word, in other voices far fewer. ${NO_DICTATION}`,
    ),
    row(
      'digits-en',
      'en',
      'Digits, English',
      `Strings of digits. Of 40 strings in the four clearest voices of a synthesiser 88 % were right; slow speech is harder. ${NO_DICTATION}`,
    ),
    row('align-en', 'en', 'Alignment, English', `${ALIGNMENT} ${NO_DICTATION}`),
    row(
      'commands-fr',
      'fr',
      'Commands, French',
      `${COMMANDS} Of 72 commands in the three clearest voices of a synthesiser 78 % were right word for word, in other voices far fewer. ${NO_DICTATION}`,
    ),
    row('align-fr', 'fr', 'Alignment, French', `${ALIGNMENT} ${NO_DICTATION}`),
  ],
);
