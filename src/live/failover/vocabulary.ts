// What a request asks of all models in the same words, as one of them is asked for it, and what becomes of each member there.
// Which options serve which member is said by the provider's table: ../providers/kit/vocabulary.
import { refuse } from '../../api/errors.ts';
import type { Mode } from '../../api/models.ts';
import { modelOf } from '../../api/slug.ts';
import type { Common } from '../../api/vocabulary.ts';
import { baseLanguage } from '../../vendors/kit/languages/whisper-languages.ts';
import { mapped, servedBy, type Told } from '../../vendors/kit/vocabulary/mapping.ts';
import { hearsUtterances } from '../../vendors/live-turns.ts';
import type { ModelCard, Provider } from '../../vendors/provider.ts';
import { languagesFor, withRegion } from './languages.ts';

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
 * @throws Refusal for a field that the model takes, and not with this value
 */
export function mappedFor(card: ModelCard, provider: Provider, asked: Spoken, given: Params): Mapped {
  const { languages = [], ...common } = asked.common ?? {};
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
  if (unfit !== undefined) throw refuse('invalid_request', `${unfit.message}`, { param: unfit.param });
  const speakers = asked.diarization ? [speakersOf(card, asked.mode)] : [];
  const before = spoken.told.map(({ param }) => param);
  return {
    language: spoken.language,
    diarization: speakers.some(({ outcome }) => outcome !== 'dropped'),
    params,
    told: [
      ...spoken.told,
      ...speakers,
      ...told
        .filter(({ param }) => !before.includes(param))
        .map((each) =>
          each.param === 'languages' && each.outcome === 'honoured'
            ? withRegion(card, each.param, languages, heardAs)
            : each,
        ),
    ],
  };
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
    message: `${card.id} tells speakers apart within a turn only: speaker 0 of one turn may be another of the next.`,
  };
}
