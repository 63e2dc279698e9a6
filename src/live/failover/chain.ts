// The chain of a request: each named model is found, checked against what is asked of it, and paired with what it would not
// honour. The whole chain is checked before the first sample, so that a failover cannot fail on a request's own mistakes.

import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { faultOf } from '../../api/accepted.ts';
import { FALLBACKS_MAX } from '../../api/bounds.ts';
import type { ChosenModel } from '../../api/choice.ts';
import { ApiError, type ApiErrorExtras, apiError, printable } from '../../api/errors.ts';
import type { Candidate } from '../../api/listen.ts';
import type { Mode } from '../../api/models.ts';
import type { DataResidencyRule } from '../../api/residency-rule.ts';
import { isSlug, modelOf, nearestSlugs, providerOf } from '../../api/slug.ts';
import { FREE, type ListedPrice, type PriceList, priceWith } from '../../config/prices/price-list.ts';
import type { TextAnalyzer } from '../../redaction/analyzer.ts';
import { hearsUtterances, UTTERANCE_TIMING } from '../../vendors/kit/live-turns.ts';
import { type AskedRule, paramsWithin } from '../../vendors/kit/place-rules.ts';
import type { Engine, LiveTiming, ModelCard, Provider, ProviderAccess } from '../../vendors/kit/provider.ts';
import type { Told } from '../../vendors/kit/vocabulary/mapping.ts';
import { type CredentialDependencies, credentialOf, ownKeyWords, type Unusable } from './chain-credential.ts';
import type { ChoiceDependencies } from './choice/measures.ts';
import { understands } from './last-resort.ts';
import { mappedFor, type Spoken } from './vocabulary.ts';

/** A limitation that does not stop the session; `code` is what `session_started` lists and `warning` carries. */
export interface Degradation {
  code: string;
  message: string;
  param?: string;
}

/** One checked member of a chain. */
export interface ResolvedCandidate {
  slug: string;
  provider: Provider;
  card: ModelCard;
  /** What is requested of it: its language, whether speakers are told apart, and its options. */
  language: string | undefined;
  diarization: boolean;
  params: Readonly<Record<string, unknown>>;
  /** Whose credential is used: `service` for the gateway's own. Breakers are kept apart by it. */
  credentialId: string;
  /** Who uses it. Breakers are kept apart by it where its own requests may be what fails. */
  organisationId: string;
  /** Whether that is the organisation's own provider key: then nothing is charged. */
  own: boolean;
  /** What the node that dials has to keep to. */
  rule?: DataResidencyRule;
  /** The endpoint that the rule chooses. Breakers are kept apart by it as well. */
  endpoint?: string;
  /** The own key is out of use: the dial will fail, and nothing else takes its place. */
  barred?: true;
  /** What it costs in the mode that is requested. */
  price: ListedPrice;
  /** With an own key, where there are ceilings on spend: what it counts for under them. */
  counted?: ListedPrice;
  /** Hertz this member is sent. */
  sampleRate: number;
  /** The operator's, which the request does not name. */
  isLastResort?: true;
  /** Why the gateway has chosen it, where it has. */
  chosen?: ChosenModel;
  /** What becomes of the members of the request that all models are asked. */
  told: readonly Told[];
  degradations: Degradation[];
}

/** What is asked of every member. */
export interface Ask extends Spoken {
  /** Whose own provider keys are used where there are any. */
  organisationId: string;
  model: string;
  providerParams: Readonly<Record<string, unknown>>;
  /** Whose account at the provider of `model` is used; undefined for one's own where there is one. */
  credential?: Candidate['credential'] | undefined;
  fallbacks: readonly Candidate[];
  /** So many of the models, from the first on, are those of an alias, which stands for files and for live sessions. */
  aliased?: number | undefined;
  sampleRate: number;
  interimResults: boolean;
  strict: boolean;
  /** A model behind all that are named, which the key allows. */
  lastResort?: string | undefined;
  /** Whether the first fallback of a live session is to stay connected. */
  standby?: boolean | undefined;
  /** Where audio may go, by whoever has a say in that. */
  rules?: readonly AskedRule[];
  /** There are ceilings on spend, under which own provider keys count. */
  hasCeilings?: boolean | undefined;
}

export interface ChainDependencies extends CredentialDependencies {
  providers: ReadonlyMap<string, Provider>;
  engines: Readonly<Record<string, Engine>>;
  prices: PriceList;
  /** The operator's: see `VOXGATE_LAST_RESORT`. */
  lastResort?: string | undefined;
  /** Finds names and addresses in texts; absent where the operator has no such service. */
  analyzer?: TextAnalyzer | undefined;
  /** What `auto` is decided by; absent: by prices. */
  choice?: ChoiceDependencies;
}

/** The chain of a request, with warnings about the chain itself. Throws an ApiError naming the parameter at fault. */
export async function resolveChain(
  ask: Ask,
  dependencies: ChainDependencies,
): Promise<{ members: ResolvedCandidate[]; warnings: Degradation[] }> {
  const warnings: Degradation[] = [];
  if (ask.fallbacks.length > FALLBACKS_MAX) {
    throw apiError(
      'invalid_request',
      `\`fallbacks\` names ${ask.fallbacks.length} models; at most ${FALLBACKS_MAX} are tried.`,
      { param: 'fallbacks' },
    );
  }
  const members: ResolvedCandidate[] = [];
  let missing: ApiError | undefined;
  const { model, credential } = ask;
  const own: Candidate = { model, provider_params: { ...ask.providerParams }, ...(credential && { credential }) };
  for (const [index, candidate] of [own, ...ask.fallbacks].entries()) {
    const param = index === 0 ? 'model' : 'fallbacks';
    const isAliased = index < (ask.aliased ?? 0);
    const checked = await checkedMember(candidate, param, ask, isAliased, dependencies);
    if ('remedy' in checked) {
      missing ??= apiError(checked.code, `${checked.why} ${checked.remedy}`, { param });
      if (ask.strict && checked.otherMode !== true) throw missing;
      warnings.push(withoutMember(candidate.model, checked, param));
    } else if (members.some((other) => isSame(other, checked))) {
      warnings.push({
        code: 'duplicate_fallback',
        message: `\`fallbacks\` names ${candidate.model} again; it is tried once.`,
        param,
      });
    } else members.push(checked);
  }
  if (members.length === 0 && missing !== undefined) throw missing;
  refuseBarred(members);
  if (ask.standby === true) warnings.push(...standbyProblems(ask, members[1], dependencies));
  const last = await lastResort(ask, members, dependencies);
  return { members: last === undefined ? members : [...members, last], warnings };
}

/** Why the first fallback cannot stay connected; none where it can. Throws an ApiError where the request insists on it. */
function standbyProblems(
  ask: Ask,
  fallback: ResolvedCandidate | undefined,
  { access }: Pick<ChainDependencies, 'access'>,
): Degradation[] {
  if (fallback !== undefined && timingOf(fallback, ask, access).isIdleFree === true) return [];
  const why =
    fallback === undefined
      ? 'there is no fallback.'
      : `the provider of ${fallback.slug} bills or ends a connection without audio.`;
  const message = `\`standby\` is ignored: ${why}`;
  if (!ask.strict) return [{ code: 'parameter_ignored', message, param: 'standby' }];
  throw apiError('unsupported_parameter', `${message} Choose another fallback, or drop \`standby\`.`, {
    param: 'standby',
  });
}

/** The operator's last resort, where the request allows it and does not name it already. */
async function lastResort(
  ask: Ask,
  members: readonly ResolvedCandidate[],
  dependencies: ChainDependencies,
): Promise<ResolvedCandidate | undefined> {
  const { lastResort: model } = ask;
  const [first] = members;
  if (model === undefined || first === undefined || members.some(({ slug }) => slug === model)) return undefined;
  const { card } = find(model, 'fallbacks', dependencies.providers);
  if (!understands(card, first.card, ask)) return undefined;
  try {
    const checked = await checkedMember({ model, credential: 'service' }, 'fallbacks', ask, true, dependencies);
    return 'remedy' in checked ? undefined : { ...checked, isLastResort: true };
  } catch (error) {
    // Residency rules or `strict` leave it out.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** A chain continues without a member that cannot be used. */
const withoutMember = (slug: string, { why, remedy }: Unusable, param: string): Degradation => ({
  code: 'model_left_out',
  message: `${slug} is left out: ${why} ${remedy}`,
  param,
});

const isSame = (other: ResolvedCandidate, { slug, credentialId, params }: ResolvedCandidate): boolean =>
  other.slug === slug && other.credentialId === credentialId && Value.Equal(other.params, params);

/** With a fallback left, a key that is out of use is found out at the dial, and the fallback answers. */
function refuseBarred(members: readonly ResolvedCandidate[]): void {
  const [first] = members;
  if (first === undefined || !members.every((each) => each.barred)) return;
  throw apiError('upstream_account', ownKeyWords(first.provider.title, 'It was refused too often and is disabled.'), {
    param: 'model',
  });
}

/** One model, as it would be asked. Throws an ApiError where it cannot honour the request. */
export async function checkedMember(
  candidate: Candidate,
  param: 'model' | 'fallbacks',
  ask: Ask,
  isAliased: boolean,
  dependencies: ChainDependencies,
): Promise<ResolvedCandidate | Unusable> {
  const { provider, card } = find(candidate.model, param, dependencies.providers);
  if (!card.modes.includes(ask.mode)) {
    const without = modeless(card, ask.mode);
    if (isAliased) return without;
    throw apiError(without.code, `${without.why} ${without.remedy}`, { param });
  }
  const params = candidate.provider_params ?? {};
  const paramsName = param === 'model' ? 'provider_params' : 'fallbacks';
  checkParams(card, provider.options(modelOf(card.id)), params, paramsName);
  const found = await credentialOf(candidate, provider, ask, dependencies);
  if ('remedy' in found) return found;
  const { barred, access, ...credential } = found;
  // The customer's own provider key costs nothing, whatever the model.
  const listed = credential.own ? FREE : dependencies.prices.priceOf(card.id, ask.mode);
  if (listed === undefined) return notPriced(card, ask.mode);
  const ignored = Object.keys(params).filter((name) => provider.honours?.(name, modelOf(card.id), ask.mode) === false);
  const honoured = Object.fromEntries(Object.entries(params).filter(([name]) => !ignored.includes(name)));
  const spoken = mappedFor(card, provider, ask, honoured);
  const dial = { provider, card, mode: ask.mode, params: spoken.params, access };
  const checked: ResolvedCandidate = {
    slug: card.id,
    provider,
    card,
    ...spoken,
    ...paramsWithin(card.id, param, dial, ask.rules ?? []),
    ...credential,
    organisationId: ask.organisationId,
    ...(barred ? { barred } : {}),
    price: priceWith(listed, spoken),
    sampleRate: rateFor(card, ask.sampleRate),
    degradations: [
      ...spoken.told.flatMap(degradationOf),
      ...withoutInterims(card, ask),
      ...ignored.map((name) => ignoredParam(card, name, ask.mode, paramsName)),
    ],
  };
  const worst = checked.degradations.find(({ code }) => code !== MAPPED);
  if (ask.hasCeilings && credential.own) countUnderCeilings(checked, ask.mode, dependencies);
  if (ask.strict && worst !== undefined) {
    throw apiError(
      'unsupported_parameter',
      `${worst.message} Leave it out, choose another model, or drop \`strict\`.`,
      extras(worst.param),
    );
  }
  await checkWithEngine(checked, ask, dependencies, paramsName);
  return checked;
}

/** Without a price it counts for nothing. */
function countUnderCeilings(checked: ResolvedCandidate, mode: Mode, { prices }: ChainDependencies): void {
  const listed = prices.priceWithoutMargin(checked.slug, mode);
  if (listed === undefined || (listed.microUsd === 0n && listed.minimumMicroUsd === 0n)) return;
  checked.counted = priceWith(listed, checked);
}

const modeless = ({ id, modes }: ModelCard, mode: Mode): Unusable => ({
  code: 'invalid_request',
  why: `The model ${id} has no ${mode} mode; it supports ${modes.length === 0 ? 'nothing' : modes.join(' and ')}.`,
  remedy: `GET /v1/models?mode=${mode} lists those that can.`,
  otherMode: true,
});

const notPriced = ({ id }: ModelCard, mode: Mode): Unusable => ({
  code: 'model_not_priced',
  why: `The model ${id} has no ${mode} price here, so it cannot be used on the gateway's account.`,
  remedy: 'Its operator can set one, or name another model.',
});

function find(
  slug: string,
  param: string,
  providers: ReadonlyMap<string, Provider>,
): { provider: Provider; card: ModelCard } {
  const provider = isSlug(slug) ? providers.get(providerOf(slug)) : undefined;
  const card = provider?.models.find((each) => each.id === slug);
  if (provider !== undefined && card !== undefined) return { provider, card };
  const known = [...providers.values()].flatMap((each) => each.models.map(({ id }) => id));
  // Clients of a vendor name its models without a provider.
  const own = known.filter((id) => id.slice(id.indexOf('/') + 1) === slug);
  const nearest = own.length > 0 ? own : nearestSlugs(slug, known);
  const compatible = own.some((id) => id.startsWith('openai/')) ? ` ${WITHOUT_PROVIDER}` : '';
  const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(', ')}?` : ' GET /v1/models lists them all.';
  throw apiError('model_not_found', `There is no model "${printable(slug)}".${hint}${compatible}`, { param });
}

const WITHOUT_PROVIDER =
  'Set the base URL of OpenAI’s client to /compat/openai/v1 on this host to use its models without `openai/`.';

async function checkWithEngine(
  checked: ResolvedCandidate,
  ask: Ask,
  { access, engines }: ChainDependencies,
  param: string,
): Promise<void> {
  if (checked.provider.live === undefined) return;
  if (ask.mode === 'batch' ? checked.provider.batch?.kind !== 'live' : hearsUtterances(checked.card)) return;
  const model = modelOf(checked.slug);
  const { endpoint } = checked.provider.live(model).open({
    model,
    sampleRate: checked.sampleRate,
    language: checked.language,
    interimResults: ask.interimResults,
    diarization: checked.diarization,
    params: checked.params,
    access: addressOf(access(checked.provider.name)),
  });
  if (endpoint.kind !== 'embedded') return;
  const fault = await engines[endpoint.engine]?.check?.(endpoint.query, ask.organisationId);
  if (fault !== undefined) {
    throw apiError(
      'invalid_provider_params',
      `\`provider_params.${fault.param}\` of ${checked.slug}: ${fault.message}`,
      {
        param: `${param}.${fault.param}`,
      },
    );
  }
}

/** With `strict` nothing is taken that is done in another way, except for what is done as well. */
const MAPPED = 'parameter_mapped';

function degradationOf({ param, outcome, isCut, code, message = '' }: Told): Degradation[] {
  if (outcome === 'honoured') return [];
  const usual = outcome === 'dropped' ? 'parameter_ignored' : isCut ? 'parameter_shortened' : MAPPED;
  return [{ code: code ?? usual, message, param }];
}

const withoutInterims = ({ id, capabilities }: ModelCard, { mode, interimResults }: Ask): Degradation[] =>
  mode === 'live' && interimResults && !capabilities.interim_results
    ? [{ code: 'interim_results_unsupported', message: `${id} sends only finals.`, param: 'interim_results' }]
    : [];

const ignoredParam = (card: ModelCard, name: string, mode: Mode, param: string): Degradation => ({
  code: 'parameter_ignored',
  message: `${card.id} does not accept \`provider_params.${name}\` in ${mode} mode.`,
  param: `${param}.${name}`,
});

/** The rate a model is sent: the client's own where the model takes it, else the next higher, else its highest. */
export function rateFor(card: ModelCard, sampleRate: number): number {
  const rates = [...card.audio.sample_rates].sort((a, b) => a - b);
  return rates.find((rate) => rate >= sampleRate) ?? rates.at(-1) ?? sampleRate;
}

/** What of an access is not a secret. */
const addressOf = ({ baseUrl }: ProviderAccess): ProviderAccess => ({ baseUrl, credential: undefined });

const extras = (param: string | undefined): ApiErrorExtras => (param === undefined ? {} : { param });

const NAMES: Readonly<Record<string, readonly string[]>> = {
  diarization: ['diarize', 'diarization', 'speaker_labels', 'speaker_diarization', 'enable_speaker_diarization'],
  language: ['language', 'language_code', 'language_hint', 'lang'],
  languages: ['languages', 'language_hints', 'language_codes', 'language_config'],
  keyterms: [
    ...['keyterm', 'keyterms', 'keyterms_prompt', 'keywords', 'word_boost', 'boost_param'],
    ...['additional_vocab', 'custom_vocabulary', 'vocabulary', 'biased_keywords'],
  ],
  redact: ['redact', 'redact_pii', 'redact_pii_policies', 'pii_redaction'],
  prompt: ['prompt', 'initial_prompt'],
};

const PARAMETER_OF = new Map(
  Object.entries(NAMES).flatMap(([parameter, names]) => names.map((name) => [name, parameter] as const)),
);

/** Throws an ApiError that names the option at fault. */
function checkParams(card: ModelCard, schema: TSchema, params: Readonly<Record<string, unknown>>, param: string): void {
  const fault = faultOf(schema, params);
  if (fault === undefined) return;
  const path = printable(fault.path.join('.'));
  const accepted = Object.keys((schema as { properties?: object }).properties ?? {}).join(', ');
  const named = `\`provider_params${path === '' ? '' : `.${path}`}\``;
  const problem = {
    unknown: 'is not an option of',
    missing: 'is required by',
    invalid: 'has a value that is not accepted by',
  };
  const what = fault.kind === 'unknown' ? commonParameterHint(path) : ` Send ${fault.accepts}.`;
  throw apiError(
    'invalid_provider_params',
    `${named} ${problem[fault.kind]} ${card.id}.${what} It accepts ${accepted || 'none'}.`,
    {
      param: path === '' ? param : `${param}.${path}`,
    },
  );
}

/** A sentence about an option of `provider_params` that the model does not have; empty where no parameter means the same. */
function commonParameterHint(option: string): string {
  const parameter = PARAMETER_OF.get(option.toLowerCase());
  return parameter === undefined
    ? ''
    : ` Send \`${parameter}\` outside \`provider_params\`: it means the same for every model.`;
}

/** Has embedded models of a chain loaded before it is their turn, until the returned function is called. */
export function keepReady(chain: readonly ResolvedCandidate[], engines: Readonly<Record<string, Engine>>): () => void {
  const releases = chain.map(({ provider, slug }) => engines[provider.name]?.keepReady?.(modelOf(slug)));
  return () => {
    for (const release of releases) release?.();
  };
}

/** What a member wants of its audio and its time, for what is asked of it. */
export function timingOf(
  { provider, card, slug, sampleRate, params }: ResolvedCandidate,
  { language, diarization }: Pick<Ask, 'language' | 'diarization'>,
  access: ChainDependencies['access'],
): LiveTiming {
  if (hearsUtterances(card)) return UTTERANCE_TIMING;
  if (provider.live === undefined) throw new Error(`${slug} has no live mode, and was let into a live chain.`);
  const model = modelOf(slug);
  return provider.live(model).timing({
    model,
    sampleRate,
    language,
    interimResults: true,
    diarization,
    params,
    access: addressOf(access(provider.name)),
  });
}
