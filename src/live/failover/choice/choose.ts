// The chain of a request that leaves models to the gateway: `model=auto`, `fallbacks=auto`, or both. Decided once, when the session or the
// file begins, and explained with each model that was chosen.

import { languageOf } from '../../../api/accuracy.ts';
import { FALLBACKS_MAX } from '../../../api/bounds.ts';
import { AUTO, type ChosenModel, type Preference } from '../../../api/choice.ts';
import { apiError } from '../../../api/errors.ts';
import type { Candidate } from '../../../api/listen.ts';
import type { Mode } from '../../../api/models.ts';
import { providerOf } from '../../../api/slug.ts';
import type { Accuracy } from '../../../config/accuracy.ts';
import { usdOf } from '../../../config/prices/price.ts';
import type { ModelCard } from '../../../vendors/kit/provider.ts';
import { type Ask, type ChainDependencies, type Degradation, type ResolvedCandidate, resolveChain } from '../chain.ts';
import { speaks } from '../vocabulary.ts';
import { type Choosing, candidatesOf, unmetBy } from './candidates.ts';
import type { Figures } from './measures.ts';
import { type Criterion, type Rankable, ranked } from './rank.ts';

/** Fallbacks that are chosen, each of another provider. */
const FALLBACKS_CHOSEN_MAX = 2;
/** A price for a session counts as that of so many minutes. */
const SESSION_MINUTES = 10;
/** More attempts are not shown: how much a gateway is used is its operator's matter. */
const MEASURED_SHOWN_MAX = 1_000;

export interface Wishes extends Choosing {
  preference: Preference | undefined;
  /** Models that a session has already: they stay, as long as they fit. */
  keeps?: readonly string[];
}

interface Chain {
  members: ResolvedCandidate[];
  warnings: Degradation[];
}

type Named = Pick<Ask, 'model' | 'fallbacks'>;

/** Whether any model of the request is to be chosen. */
export const isChosen = ({ model, fallbacks }: Named): boolean => model === AUTO || fallbacks.some(isAuto);

const isAuto = ({ model }: Candidate): boolean => model === AUTO;

/** The warning about a preference without a choice. */
export const preferUnused: Degradation = {
  code: 'parameter_ignored',
  message: '`prefer` has an effect only with `model=auto` or `fallbacks=auto`.',
  param: 'prefer',
};

/** The chain with the models that are chosen in it. Throws an ApiError. */
export async function chosenChain(ask: Ask, wishes: Wishes, dependencies: ChainDependencies): Promise<Chain> {
  refuseOptions(ask);
  const named = ask.fallbacks.filter((each) => !isAuto(each));
  const candidates = await candidatesOf(ask, wishes, dependencies);
  const taken = [ask.model, ...named.map(({ model }) => model)];
  const ranking = rankedBy(candidates.members, ask, wishes, dependencies);
  if (wishes.preference === 'accuracy') requireMeasured(ranking, ask);
  const best = ranking.filter(({ slug }) => !taken.includes(slug));
  const [first] = ask.model === AUTO ? best : [];
  if (ask.model === AUTO && first === undefined)
    throw apiError('no_model_available', `${NONE} ${candidates.none || ALL_NAMED} ${ADVICE}`, { param: 'model' });
  const isCompleted = named.length < ask.fallbacks.length;
  const others =
    isCompleted || named.length === 0
      ? ofOtherProviders(
          best,
          [...taken, first?.slug ?? ''],
          first?.member.card ?? cardOf(ask.model, dependencies),
          ask,
        )
      : [];
  const added = others.slice(0, Math.min(FALLBACKS_CHOSEN_MAX, FALLBACKS_MAX - named.length));
  const warnings = isCompleted && added.length === 0 ? [noFallback(ask, candidates.none)] : [];
  const model = first?.slug ?? ask.model;
  const fallbacks = [...named, ...added.map(({ slug }) => ({ model: slug }))];
  const chain = await resolveChain({ ...ask, model, fallbacks }, dependencies);
  const chosen = new Map([...(first === undefined ? [] : [first]), ...added].map(({ slug, shown }) => [slug, shown]));
  for (const member of chain.members) {
    const shown = member.isLastResort ? undefined : chosen.get(member.slug);
    if (shown !== undefined) member.chosen = shown;
  }
  return { members: chain.members, warnings: [...warnings, ...chain.warnings] };
}

const cardOf = (slug: string, { providers }: Pick<ChainDependencies, 'providers'>): ModelCard | undefined =>
  providers.get(providerOf(slug))?.models.find(({ id }) => id === slug);

/** What was chosen of a chain, for those who are to read it; undefined where nothing was. */
export function choiceOf(chain: readonly ResolvedCandidate[]): ChosenModel[] | undefined {
  let choice: ChosenModel[] | undefined;
  for (const { chosen } of chain) {
    if (chosen === undefined) continue;
    choice ??= [];
    choice.push(chosen);
  }
  return choice;
}

function refuseOptions({ model, providerParams, fallbacks }: Ask): void {
  if (model === AUTO && Object.keys(providerParams).length > 0)
    throw apiError(
      'invalid_request',
      '`provider_params` are options of one model, and `model=auto` may choose any. Name a model, or leave them out.',
      { param: 'provider_params' },
    );
  const withMore = fallbacks.find((each) => isAuto(each) && Object.keys(each).length > 1);
  if (withMore === undefined) return;
  throw apiError('invalid_request', '`auto` in `fallbacks` accepts neither options nor a `credential`.', {
    param: 'fallbacks',
  });
}

interface Ranked extends Rankable {
  member: ResolvedCandidate;
  accuracy?: Accuracy | undefined;
  /** As it is explained. */
  shown: ChosenModel;
}

function rankedBy(
  members: readonly ResolvedCandidate[],
  ask: Ask,
  wishes: Wishes,
  { choice }: ChainDependencies,
): Ranked[] {
  const accuracies = accuraciesOf(members, ask, wishes, choice);
  const rows = members.map((member) => ({
    member,
    accuracy: accuracies?.get(member.slug),
    errorRate: accuracies?.get(member.slug)?.errorRate,
    slug: member.slug,
    provider: member.provider.name,
    created: member.card.created,
    microUsdPerMinute: perMinute(member),
    isOpen: choice?.isOpen(member) ?? false,
    unmet: unmetBy(member, ask, wishes),
    figures: choice?.figuresOf(ask.mode, member.slug) ?? NOT_MEASURED,
  }));
  const order = ranked(rows, wishes.preference ?? 'reliability');
  const best = order.map(({ candidate, over }, index): Ranked => {
    const next = order[index + 1]?.candidate.slug;
    return { ...candidate, shown: shownAs(candidate, reasonOf(over, next), ask.mode) };
  });
  return withKept(best, wishes.keeps ?? []);
}

const NOT_MEASURED: Figures = { attempts: 0, failures: 0, delayMs: undefined, delays: 0 };

/** Undefined where it does not matter. */
function accuraciesOf(
  members: readonly ResolvedCandidate[],
  ask: Ask,
  { preference }: Pick<Wishes, 'preference'>,
  choice: ChainDependencies['choice'],
): ReadonlyMap<string, Accuracy | undefined> | undefined {
  if (preference !== 'accuracy') return undefined;
  const language = spokenIn(ask);
  return new Map(members.map(({ slug }) => [slug, choice?.accuracyOf?.(slug, language)]));
}

/** The language of which accuracies matter: the first that is named. */
const spokenIn = ({ language, common }: Pick<Ask, 'language' | 'common'>): string | null =>
  languageOf(language) ?? languageOf(common?.languages?.[0]);

function requireMeasured(ranking: readonly Ranked[], ask: Ask): void {
  if (ranking.length === 0 || ranking.some(({ accuracy }) => accuracy !== undefined)) return;
  const language = spokenIn(ask);
  const of = language === null ? 'without a named language' : `for \`${language}\``;
  throw apiError(
    'invalid_request',
    `\`prefer=accuracy\`: no model that fits the request has a measured accuracy ${of}. The gateway's operator can measure it with \`voxgate accuracy DIR --models … --keep FILE\`. Send another \`prefer\` or another language.`,
    { param: 'prefer' },
  );
}

/** A session that is changed stays with its models, where these still do all that others would. */
function withKept(best: readonly Ranked[], keeps: readonly string[]): Ranked[] {
  const least = Math.min(...best.map(({ unmet }) => unmet));
  const kept = keeps.flatMap((slug) => best.find((each) => each.slug === slug && !each.isOpen) ?? []);
  const staying = kept.filter(({ unmet }) => unmet <= least).map((each) => ({ ...each, shown: keptAs(each.shown) }));
  const slugs = staying.map(({ slug }) => slug);
  return [...staying, ...best.filter(({ slug }) => !slugs.includes(slug))];
}

const keptAs = (shown: ChosenModel): ChosenModel => ({ ...shown, reason: 'The session uses it already.' });

/** The best of each provider that has no model in the chain. Where no language is named, they share one with the first model. */
function ofOtherProviders(
  best: readonly Ranked[],
  taken: readonly string[],
  first: ModelCard | undefined,
  ask: Ask,
): Ranked[] {
  const seen = new Set(taken.map(providerOf));
  const isNamed = ask.language !== undefined || (ask.common?.languages ?? []).length > 0;
  const spoken = isNamed || first === undefined ? ['*'] : first.languages;
  return best.filter(({ provider, member }) => {
    const isShared = spoken.some((each) => each === '*' || speaks(member.card, each));
    if (seen.has(provider) || !isShared) return false;
    seen.add(provider);
    return true;
  });
}

/** Micro-USD. */
export function perMinute({ price: { unit, microUsd } }: ResolvedCandidate): number {
  return unit === 'session' ? Number(microUsd) / SESSION_MINUTES : Number(microUsd);
}

function shownAs(candidate: Rankable & Pick<Ranked, 'member' | 'accuracy'>, reason: string, mode: Mode): ChosenModel {
  const { slug, member, figures, accuracy } = candidate;
  const { attempts, failures, delayMs } = figures;
  const { unit, microUsd } = member.price;
  const shown: ChosenModel = {
    model: slug,
    reason,
    measured: Math.min(MEASURED_SHOWN_MAX, Math.round(attempts)),
  };
  if (unit === 'minute') shown.price_per_minute = usdOf(microUsd);
  if (accuracy !== undefined) {
    const { errorRate, unit: counted, units } = accuracy;
    shown.accuracy = { error_rate: Math.round(errorRate * 10_000) / 10_000, unit: counted, units };
  }
  if (attempts > 0) shown.error_rate = Math.round((failures / attempts) * 1_000) / 1_000;
  if (delayMs !== undefined && mode === 'live') shown.first_word_ms = Math.round(delayMs);
  if (delayMs !== undefined && mode === 'batch') shown.answer_ms_per_second = Math.round(delayMs);
  return shown;
}

const REASONS: Readonly<Record<Criterion, string>> = {
  breaker: 'works, while the circuit breaker of NEXT is open',
  wishes: 'supports more of the request than NEXT',
  reliable: 'fails less often than NEXT, which fails too often to be compared by delay',
  measured: 'has a measured accuracy in this language, which NEXT does not have',
  accuracy: 'made fewer errors than NEXT in the operator’s recordings',
  failures: 'fails less often than NEXT',
  delay: 'answers sooner than NEXT',
  price: 'costs less than NEXT',
  age: 'as good as NEXT, and newer',
  name: 'as good as NEXT, and first in alphabetical order',
};

function reasonOf(over: Criterion | undefined, next: string | undefined): string {
  if (over === undefined || next === undefined) return 'No other model fits the request.';
  const words = REASONS[over].replace('NEXT', next);
  return `${words[0]?.toUpperCase()}${words.slice(1)}.`;
}

function noFallback({ strict }: Ask, none: string): Degradation {
  const message = `No fallback was found for \`fallbacks=auto\`. ${none || SAME_PROVIDER}`;
  if (strict) throw apiError('no_model_available', `${message} ${ADVICE}`, { param: 'fallbacks' });
  return { code: 'no_fallback_available', message, param: 'fallbacks' };
}

const NONE = 'No model qualifies for `model=auto`.';
const ALL_NAMED = 'All models that fit are already among your fallbacks.';
const SAME_PROVIDER = 'All models that fit belong to providers that the request already names.';
const ADVICE = 'Change the request, or name a model.';
