// `provider_params` of Deepgram.
import { Type } from '@sinclair/typebox';
import { flag, honouredBy, integer, number, oneOf, optionTable, texts } from '../kit/options.ts';
import type { Place } from '../kit/vocabulary/conversions.ts';
import { toBaseLanguages } from '../kit/vocabulary/conversions.ts';
import { FLUX_MODELS, isFlux, KEYTERM_MODELS, NOVA_2_MODELS, NOVA_MODELS } from './models.ts';

const everywhere = honouredBy({ live: [...NOVA_MODELS, ...FLUX_MODELS], batch: NOVA_MODELS });
const nova = honouredBy({ live: NOVA_MODELS, batch: NOVA_MODELS });
const novaLive = honouredBy({ live: NOVA_MODELS });
const files = honouredBy({ batch: NOVA_MODELS });
const flux = honouredBy({ live: FLUX_MODELS });
const fluxMulti = honouredBy({ live: ['flux-general-multi'] });
const nova2 = honouredBy({ live: NOVA_2_MODELS, batch: NOVA_2_MODELS });
const withTerms = honouredBy({
  live: KEYTERM_MODELS,
  batch: NOVA_MODELS.filter((model) => KEYTERM_MODELS.includes(model)),
});
const nowhere = honouredBy({});

const redactions = (description: string) => ({ maxItems: 50, description });

/** Live, kinds of personal data are known in English alone: https://developers.deepgram.com/docs/redaction */
const redactable = (kinds: readonly string[], _: unknown, { mode, language = 'en' }: Place) =>
  mode === 'batch' || /^en\b/i.test(language) || kinds.every((kind) => kind === 'numbers') ? kinds : undefined;

const redactsOnly = ({ model, mode }: Place) => {
  if (isFlux(model)) return 'it blacks out numbers alone';
  return mode === 'live' ? 'in live sessions it blacks out all but numbers in English alone' : undefined;
};

const IN_URL = ['live', 'batch'] as const;
/** What is behind a colon would be a weight. */
const keyword = (term: string): string => term.replaceAll(':', ' ');
/** Weights in use are from 1 to 5; 1 when absent. */
const boosted = (boost: number, terms: unknown) =>
  Array.isArray(terms) ? terms.map((term) => `${term}:${1 + boost * 4}`) : undefined;

export const options = optionTable({
  smart_format: nova(
    flag('Formats dates, numbers, addresses and the like. The gateway asks for it unless this is false.'),
  ),
  punctuate: nova(flag('Punctuation and capitals; part of `smart_format`.')),
  numerals: everywhere(flag('Numbers as digits.')),
  profanity_filter: everywhere(flag('Masks or removes profanity.')),
  dictation: nova(flag('Spoken commands such as "comma" become punctuation.')),
  filler_words: nova(flag('Keeps "uh" and "um".')),
  detect_entities: nowhere(
    flag('Known to the provider; the gateway has no place for entities and does not ask for them.'),
  ),
  mip_opt_out: everywhere(flag('Keeps the audio out of the provider’s model improvement; changes its price.')),
  endpointing: novaLive(
    Type.Union([Type.Integer({ minimum: 0, maximum: 10_000 }), Type.Literal(false)], {
      description: 'Milliseconds of silence that end a turn, or false; 300 when absent.',
    }),
  ),
  utterance_end_ms: novaLive(
    integer(
      1_000,
      5_000,
      'Milliseconds between words that end a turn where noise hides the silence; 1000 when absent.',
    ),
  ),
  vad_events: novaLive(flag('Whether the beginning of speech is told; true when absent.')),
  no_delay: novaLive(flag('With `smart_format`: does not wait for the rest of a number or date.')),
  diarize_model: nova(
    oneOf(
      ['latest', 'v1', 'v2'],
      'Tells speakers apart by this model; v2 for files only. `diarization=true` asks for the latest.',
    ),
  ),
  // A token is three characters at least, where names are spelt out.
  keyterm: withTerms(texts(100, 'Words and phrases to expect, without weights; 500 tokens in all.'), {
    common: { keyterms: { charactersMax: 1_500, inUrl: IN_URL } },
  }),
  keywords: nova2(texts(100, '`word:boost` of Nova-2; others take `keyterm`.'), {
    common: { keyterms: { to: (terms) => terms.map(keyword), inUrl: IN_URL }, vocabulary_boost: { to: boosted } },
  }),
  // A live leg is one mono stream.
  multichannel: files(
    flag('Files: each channel by itself, and billed by itself. Speakers are then numbered by channel.'),
  ),
  eot_threshold: flux(number(0.5, 1, 'Confidence that ends a turn; 0.7 when absent.')),
  eager_eot_threshold: flux(
    number(
      0.3,
      0.9,
      'Confidence for early ends of turns: `turn_eager_end` with `turn_events=true`, interims without. 0.5 when absent and asked for `turn_events`.',
    ),
  ),
  eot_timeout_ms: flux(integer(500, 60_000, 'Milliseconds of silence that end a turn in any case; 5000 when absent.')),
  language_hint: fluxMulti(texts(10, 'Languages to expect: en, es, fr, de, hi, ru, pt, ja, it, nl.'), {
    common: { languages: { to: toBaseLanguages } },
  }),
  tag: everywhere(texts(20, 'Labels of the request in the provider’s usage reports.')),
  utterances: files(flag('Files: segments at pauses; true when absent. False gives one segment.')),
  utt_split: files(number(0.1, 60, 'Files: seconds of pause between segments; 0.8 when absent.')),
  paragraphs: nowhere(
    flag('Known to the provider; the gateway has no place for paragraphs and does not ask for them.'),
  ),
  summarize: nowhere(
    Type.Literal('v2', {
      description: 'Known to the provider; the gateway has no place for a summary and does not ask for one.',
    }),
  ),
  detect_language: files(
    Type.Union(
      [Type.Boolean(), Type.Array(Type.String({ minLength: 2, maxLength: 16 }), { minItems: 1, maxItems: 50 })],
      { description: 'Files: finds the language, of all or of those named.' },
    ),
    { common: { languages: { to: toBaseLanguages } } },
  ),
  redact: everywhere(
    Type.Array(
      Type.String({ minLength: 1, maxLength: 64 }),
      redactions('What is blacked out: pci, ssn, numbers, aggressive_numbers, or names of entities.'),
    ),
    {
      common: { redact: { to: redactable, why: redactsOnly } },
      other: {
        models: FLUX_MODELS,
        schema: Type.Array(
          Type.Union([Type.Literal('numbers'), Type.Literal('aggressive_numbers')]),
          redactions('What is blacked out: numbers or aggressive_numbers.'),
        ),
      },
    },
  ),
});
