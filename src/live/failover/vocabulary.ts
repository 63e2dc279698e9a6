// What a request asks of all models in the same words, as one of them is asked for it, and what becomes of each member there.
// Which options serve which member is said by the provider's table: ../providers/kit/vocabulary.
import { apiError } from '../../api/errors.ts';
import type { Mode } from '../../api/models.ts';
import { classesOf, isVendorRedaction } from '../../api/redaction.ts';
import { modelOf } from '../../api/slug.ts';
import type { Common } from '../../api/vocabulary.ts';
import { baseLanguage } from '../../vendors/kit/languages/whisper-languages.ts';
import { hearsUtterances } from '../../vendors/kit/live-turns.ts';
import type { ModelCard, Provider } from '../../vendors/kit/provider.ts';
import { mapped, type Served, servedBy, type Told } from '../../vendors/kit/vocabulary/mapping.ts';

type Params = Readonly<Record<string, unknown>>;

/** What is asked of every model. */
export interface Spoken {
  mode: Mode;
  language: string | undefined;
  diarization: boolean;
  common?: Common;
}

/** The same, of one model. */
export interface Mapped {
  language: string | undefined;
  diarization: boolean;
  params: Params;
  told: readonly Told[];
}

/** Fields of OpenAI's form of which nothing can be left out. */
const WHOLE = ['include[]', 'chunking_strategy', 'known_speaker_names[]', 'known_speaker_references[]'];

/**
 * @param given those of `provider_params` that the model honours
 * @throws ApiError for a field that the model takes, and not with this value
 */
export function mappedFor(card: ModelCard, provider: Provider, asked: Spoken, given: Params): Mapped {
  const { languages = [], ...common } = ofVendors(asked.common ?? {});
  const place = { model: modelOf(card.id), mode: asked.mode };
  const served = servedBy(provider, place);
  const heardAs = (language: string): string =>
    provider.heardAs?.(language, place.model, place.mode) ?? (baseLanguage(language) as string);
  const spoken = languagesFor(card, { language: asked.language, languages }, served('languages'), heardAs);
  const { params, told } = mapped(
    card.id,
    { ...place, language: spoken.language },
    served,
    { ...common, ...spoken.expected },
    given,
  );
  const unfit = told.find(({ param, isUnfit }) => isUnfit && WHOLE.includes(param));
  if (unfit !== undefined) throw apiError('invalid_request', `${unfit.message}`, { param: unfit.param });
  const speakers = asked.diarization ? [speakersOf(card, asked.mode)] : [];
  const before = spoken.told.map(({ param }) => param);
  const implied = classesOf(asked.common?.redact);
  return {
    language: spoken.language,
    diarization: speakers.some(({ outcome }) => outcome !== 'dropped'),
    params,
    told: [
      ...spoken.told,
      ...speakers,
      ...told
        .filter(({ param }) => !before.includes(param))
        .map((each) => withImplied(each, implied))
        .map((each) =>
          each.param === 'languages' && each.outcome === 'honoured'
            ? withRegion(card, each.param, languages, heardAs)
            : each,
        ),
    ],
  };
}

/** A model that does not redact: what the gateway does of it. */
const withImplied = (told: Told, implied: readonly string[] | undefined): Told =>
  implied === undefined || told.param !== 'redact' || told.outcome !== 'dropped'
    ? told
    : { ...told, message: `${told.message} The gateway redacts ${implied.join(', ')}, and nothing else.` };

/** Without what the gateway itself redacts: no model is asked for that. */
function ofVendors({ redact, ...common }: Common): Common {
  const kinds = redact?.filter(isVendorRedaction) ?? [];
  return kinds.length === 0 ? common : { ...common, redact: kinds };
}

function speakersOf(card: ModelCard, mode: Mode): Told {
  const param = 'diarization';
  const { diarization } = { ...card.capabilities, ...(mode === 'live' ? card.liveCapabilities : {}) };
  if (!diarization) {
    const message = `${card.id} cannot tell speakers apart${card.capabilities.diarization ? ` in ${mode} mode` : ''}.`;
    return { param, outcome: 'dropped', code: 'diarization_unsupported', message };
  }
  if (mode === 'batch' || !hearsUtterances(card)) return { param, outcome: 'honoured' };
  return {
    param,
    outcome: 'mapped',
    isCut: true,
    code: 'speakers_per_turn',
    message: `${card.id} tells speakers apart only within a turn: speaker 0 may be another person in the next turn.`,
  };
}

interface Asked {
  language: string | undefined;
  languages: readonly string[];
}

interface Languages {
  language: string | undefined;
  /** What is left for an option of the model. */
  expected: { languages?: string[] };
  told: Told[];
}

/** What the service is told of a language. */
export type HeardAs = (language: string) => string;

/** @param served options of the model that take several languages */
function languagesFor(
  card: ModelCard,
  { language, languages }: Asked,
  served: readonly Served[],
  heardAs: HeardAs,
): Languages {
  const isAuto = language === 'auto';
  const told = language === undefined ? [] : [isAuto ? detection(card) : knowledge(card, language, heardAs)];
  const [own] = told;
  const alone = own?.outcome === 'dropped' ? undefined : language;
  if (languages.length === 0) return { language: alone, expected: {}, told };

  const all = distinct([...(language === undefined || isAuto ? [] : [language]), ...languages]);
  const known = all.filter((each) => speaks(card, each));
  const [first] = known;
  const tell = (taken: number, how?: string): Told[] => [...told, several(card, taken, all.length, how)];
  if (first === undefined) return { language: alone, expected: {}, told: tell(0) };
  if (known.length === 1) return { language: first, expected: {}, told: tell(1) };
  if (served.length > 0) {
    const isBeside = served.some(({ serving }) => serving.beside);
    const expected = { languages: isBeside ? known.slice(1) : known };
    // What the option makes of them is told by it; those that are not known, here.
    const unknown = known.length < all.length ? tell(known.length) : told;
    return { language: isBeside ? first : isAuto ? language : undefined, expected, told: unknown };
  }
  const among = known.filter((each) => card.switching?.includes(baseOf(each)) ?? true);
  return card.capabilities.language_detection && among.length > 1 && among.includes(first)
    ? { language: 'auto', expected: {}, told: tell(among.length, 'as `language=auto`') }
    : { language: first, expected: {}, told: tell(1, `as \`language=${first}\``) };
}

function several({ id }: ModelCard, taken: number, all: number, how = ''): Told {
  const param = 'languages';
  if (taken === 0) return { param, outcome: 'dropped', message: `${id} supports none of the \`${param}\`.` };
  if (taken < all) {
    const message = `${id} receives ${taken} of the ${all} \`${param}\`${how === '' ? '' : `, ${how}`}.`;
    return { param, outcome: 'mapped', isCut: true, message };
  }
  return how === ''
    ? { param, outcome: 'honoured' }
    : { param, outcome: 'mapped', message: `${id} receives \`${param}\` ${how}.` };
}

const detection = ({ id, capabilities, languages }: ModelCard): Told =>
  capabilities.language_detection || languages.includes('*')
    ? { param: 'language', outcome: 'honoured' }
    : {
        param: 'language',
        outcome: 'dropped',
        code: 'language_detection_unsupported',
        message: `${id} cannot detect the language; it supports ${languages.join(', ')}.`,
      };

function knowledge(card: ModelCard, language: string, heardAs: HeardAs): Told {
  if (speaks(card, language)) return withRegion(card, 'language', [language], heardAs);
  const message = `${card.id} does not support the language "${language}"; it supports ${card.languages.join(', ')}.`;
  return { param: 'language', outcome: 'dropped', code: 'language_unsupported', message };
}

/** Of languages that a model knows: whether it is told of their regions as well. */
function withRegion({ id }: ModelCard, param: string, languages: readonly string[], heardAs: HeardAs): Told {
  const lost = languages.find((each) => each.includes('-') && !isSame(each, heardAs(each)));
  if (lost === undefined) return { param, outcome: 'honoured' };
  return { param, outcome: 'mapped', message: `${id} treats \`${lost}\` as \`${heardAs(lost)}\`.` };
}

/** A language without its region is that of where most people speak it. */
function isSame(language: string, heard: string): boolean {
  try {
    return String(new Intl.Locale(language).maximize()) === String(new Intl.Locale(heard).maximize());
  } catch {
    return language.toLowerCase() === heard.toLowerCase();
  }
}

export const speaks = (card: ModelCard, language: string): boolean =>
  card.languages.some(
    (known) => known === '*' || known.toLowerCase() === language.toLowerCase() || baseOf(known) === baseOf(language),
  );

const distinct = (languages: readonly string[]): string[] => [
  ...new Map(languages.map((each) => [each.toLowerCase(), each])).values(),
];

const baseOf = (language: string): string => language.toLowerCase().split('-')[0] as string;
