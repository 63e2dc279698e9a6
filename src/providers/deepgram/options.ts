// `provider_params` of Deepgram, and which of them a model honours in which mode. Ranges that depend on each other are the
// provider's to check: it refuses a request that breaks them, in its own words.
import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import type { Mode } from '../../api/models.ts';

/** Where a request goes; each takes its own options. */
type Place = 'nova-live' | 'nova-batch' | 'flux-en' | 'flux-multi';

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const texts = (maxItems: number, description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems, description }));

const MEMBERS = {
  smart_format: flag('Formats dates, numbers, addresses and the like. The gateway asks for it unless this is false.'),
  punctuate: flag('Punctuation and capitals; part of `smart_format`.'),
  numerals: flag('Numbers as digits.'),
  profanity_filter: flag('Masks or removes profanity.'),
  dictation: flag('Spoken commands such as "comma" become punctuation.'),
  filler_words: flag('Keeps "uh" and "um".'),
  detect_entities: flag('Known to the provider; the gateway has no place for entities and does not ask for them.'),
  mip_opt_out: flag('Keeps the audio out of the provider’s model improvement; changes its price.'),
  endpointing: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: 10_000 }), Type.Literal(false)], {
      description: 'Milliseconds of silence that end a turn, or false; 300 when absent.',
    }),
  ),
  utterance_end_ms: Type.Optional(
    Type.Integer({
      minimum: 1_000,
      maximum: 5_000,
      description: 'Milliseconds between words that end a turn where noise hides the silence; 1000 when absent.',
    }),
  ),
  vad_events: flag('Whether the beginning of speech is told; true when absent.'),
  no_delay: flag('With `smart_format`: does not wait for the rest of a number or date.'),
  diarize_model: Type.Optional(
    Type.Union([Type.Literal('latest'), Type.Literal('v1'), Type.Literal('v2')], {
      description: 'Tells speakers apart by this model; v2 for files only. `diarization=true` asks for the latest.',
    }),
  ),
  keyterm: texts(100, 'Words and phrases to expect, without weights; 500 tokens in all.'),
  keywords: texts(100, '`word:boost` of Nova-2 and older models; no model listed here takes it: use `keyterm`.'),
  multichannel: flag('Files: each channel by itself, and billed by itself. Speakers are then numbered by channel.'),
  eot_threshold: Type.Optional(
    Type.Number({ minimum: 0.5, maximum: 1, description: 'Confidence that ends a turn; 0.7 when absent.' }),
  ),
  eager_eot_threshold: Type.Optional(
    Type.Number({
      minimum: 0.3,
      maximum: 0.9,
      description: 'Confidence for early ends of turns. The gateway shows them as interims.',
    }),
  ),
  eot_timeout_ms: Type.Optional(
    Type.Integer({
      minimum: 500,
      maximum: 60_000,
      description: 'Milliseconds of silence that end a turn in any case; 5000 when absent.',
    }),
  ),
  language_hint: texts(10, 'Languages to expect: en, es, fr, de, hi, ru, pt, ja, it, nl.'),
  tag: texts(20, 'Labels of the request in the provider’s usage reports.'),
  utterances: flag('Files: segments at pauses; true when absent. False gives one segment.'),
  utt_split: Type.Optional(
    Type.Number({
      minimum: 0.1,
      maximum: 60,
      description: 'Files: seconds of pause between segments; 0.8 when absent.',
    }),
  ),
  paragraphs: flag('Known to the provider; the gateway has no place for paragraphs and does not ask for them.'),
  summarize: Type.Optional(
    Type.Literal('v2', {
      description: 'Known to the provider; the gateway has no place for a summary and does not ask for one.',
    }),
  ),
  detect_language: Type.Optional(
    Type.Union(
      [Type.Boolean(), Type.Array(Type.String({ minLength: 2, maxLength: 16 }), { minItems: 1, maxItems: 50 })],
      {
        description: 'Files: finds the language, of all or of those named.',
      },
    ),
  ),
};

const redact = (item: TSchema, description: string) => Type.Optional(Type.Array(item, { maxItems: 50, description }));

const schemaWith = (redaction: TSchema): TObject =>
  Type.Object({ ...MEMBERS, redact: redaction }, { additionalProperties: false });

export const NovaOptions = schemaWith(
  redact(
    Type.String({ minLength: 1, maxLength: 64 }),
    'What is blacked out: pci, ssn, numbers, aggressive_numbers, or names of entities.',
  ),
);
export const FluxOptions = schemaWith(
  redact(
    Type.Union([Type.Literal('numbers'), Type.Literal('aggressive_numbers')]),
    'What is blacked out: numbers or aggressive_numbers.',
  ),
);

const NOVA: readonly Place[] = ['nova-live', 'nova-batch'];
const FLUX: readonly Place[] = ['flux-en', 'flux-multi'];
const EVERYWHERE: readonly Place[] = [...NOVA, ...FLUX];
const LIVE: readonly Place[] = ['nova-live'];
const FILES: readonly Place[] = ['nova-batch'];

/** Which place honours each option. An option with none costs money for a result that the gateway cannot show. */
const HONOURED: Readonly<Record<keyof typeof MEMBERS | 'redact', readonly Place[]>> = {
  smart_format: NOVA,
  punctuate: NOVA,
  numerals: EVERYWHERE,
  profanity_filter: EVERYWHERE,
  dictation: NOVA,
  filler_words: NOVA,
  detect_entities: [],
  mip_opt_out: EVERYWHERE,
  endpointing: LIVE,
  utterance_end_ms: LIVE,
  vad_events: LIVE,
  no_delay: LIVE,
  diarize_model: NOVA,
  redact: EVERYWHERE,
  keyterm: EVERYWHERE,
  keywords: [],
  // A live leg is one mono stream.
  multichannel: FILES,
  eot_threshold: FLUX,
  eager_eot_threshold: FLUX,
  eot_timeout_ms: FLUX,
  language_hint: ['flux-multi'],
  tag: EVERYWHERE,
  utterances: FILES,
  utt_split: FILES,
  paragraphs: [],
  summarize: [],
  detect_language: FILES,
};

export const isFlux = (model: string): boolean => model.startsWith('flux-');

export const optionsOf = (model: string): TObject => (isFlux(model) ? FluxOptions : NovaOptions);

/** Whether a model honours a member of `provider_params` in a mode. */
export function honours(option: string, model: string, mode: Mode): boolean {
  const place = placeOf(model, mode);
  return (
    place !== undefined && Object.hasOwn(HONOURED, option) && HONOURED[option as keyof typeof HONOURED].includes(place)
  );
}

/** The members that go on the wire as they are. */
export function honoured(
  params: Readonly<Record<string, unknown>>,
  model: string,
  mode: Mode,
): Record<string, string | number | boolean | readonly string[]> {
  const members = Object.entries(params).filter(([name, value]) => value !== undefined && honours(name, model, mode));
  return Object.fromEntries(members) as Record<string, string | number | boolean | readonly string[]>;
}

function placeOf(model: string, mode: Mode): Place | undefined {
  if (!isFlux(model)) return mode === 'live' ? 'nova-live' : 'nova-batch';
  if (mode === 'batch') return undefined;
  return model.endsWith('-multi') ? 'flux-multi' : 'flux-en';
}
