// Which models a request that names none could go to: those of its mode that know its languages, that its key allows, that can be used
// and may be, and that can do what it cannot be without. What removed the last of them is said in the refusal.
import { ApiError } from '../../../api/errors.ts';
import { isVendorRedaction } from '../../../api/redaction.ts';
import { strictest } from '../../../api/residency-rule.ts';
import type { ModelCard, Provider } from '../../../vendors/kit/provider.ts';
import { type Ask, type ChainDependencies, checkedMember, type ResolvedCandidate } from '../chain.ts';
import { speaks } from '../vocabulary.ts';

/** Members of a request that no model may drop. */
const NEEDED = ['diarization', 'redact'] as const;
const WITHOUT_INTERIMS = 'interim_results_unsupported';
const PLACE_CODES: readonly string[] = ['region_not_allowed', 'retention_not_allowed'];

/** What a request that leaves the choice to the gateway says of it. */
export interface Choosing {
  /** Whether its key allows the model. */
  allows(slug: string): boolean;
  /** It takes interims, and does not insist on them. */
  prefersInterims: boolean;
  /** Other wishes of the request that the model does not meet. */
  unmetBy?(member: ResolvedCandidate): number;
  /** Whether it does what the request insists on beyond that; all do when absent. */
  isFit?(member: ResolvedCandidate): boolean;
}

export interface Candidates {
  members: ResolvedCandidate[];
  /** In a sentence, why there are none. */
  none: string;
}

/** Members that could serve the request, in no order. */
export async function candidatesOf(
  ask: Ask,
  { allows, isFit = () => true }: Pick<Choosing, 'allows' | 'isFit'>,
  dependencies: ChainDependencies,
): Promise<Candidates> {
  const cards = [...dependencies.providers.values()].flatMap((provider) => generalModels(provider));
  const funnel = new Funnel();
  const ofMode = cards.filter(({ modes }) => modes.includes(ask.mode));
  funnel.left(ofMode.length, ask.mode === 'live' ? LIVE : FILES);
  const spoken = ofMode.filter((card) => knows(card, ask));
  funnel.left(spoken.length, languageWords(ask));
  const allowed = spoken.filter(({ id }) => allows(id));
  funnel.left(allowed.length, { one: 'is allowed by the API key', some: 'are allowed by the API key' });
  const checks: Checked[] = [];
  const known = withKnownKeys(dependencies);
  for (const { id } of allowed) checks.push(await check(id, ask, known));
  const usable = checks.filter((each) => each !== 'unusable');
  funnel.left(usable.length, {
    one: 'has a credential and a price here',
    some: 'have a credential and a price here',
  });
  const placed = usable.filter((each) => each !== 'elsewhere');
  funnel.left(placed.length, placeWords(ask));
  const members = placed.filter((each) => each !== 'unfit').filter((member) => canDo(member) && isFit(member));
  funnel.left(members.length, {
    one: `can do what the request needs${neededBy(ask)}`,
    some: 'can do what the request needs',
  });
  return { members, none: funnel.words };
}

/** Those that were made for one purpose are chosen by their names alone. */
const generalModels = ({ models }: Provider): ModelCard[] =>
  models.filter(({ isForOnePurpose }) => isForOnePurpose !== true);

type Checked = ResolvedCandidate | 'unusable' | 'elsewhere' | 'unfit';

async function check(model: string, ask: Ask, dependencies: ChainDependencies): Promise<Checked> {
  try {
    const member = await checkedMember({ model }, 'model', { ...ask, providerParams: {} }, false, dependencies);
    return 'remedy' in member || member.barred ? 'unusable' : member;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return PLACE_CODES.includes(error.code) ? 'elsewhere' : 'unfit';
  }
}

/** Whether it does what no fallback can make good. */
const canDo = ({ told, degradations }: ResolvedCandidate): boolean =>
  !told.some(({ param, outcome }) => outcome === 'dropped' && (NEEDED as readonly string[]).includes(param)) &&
  !degradations.some(({ code }) => code === WITHOUT_INTERIMS);

/** Wishes of the request that it does not meet, or in part. */
export function unmetBy(member: ResolvedCandidate, { mode }: Pick<Ask, 'mode'>, choosing: Choosing): number {
  const { told, card } = member;
  const cut = told.filter(({ outcome, isCut }) => outcome === 'dropped' || isCut === true).length;
  const isSilent = mode === 'live' && choosing.prefersInterims && !card.capabilities.interim_results;
  return cut + (isSilent ? 1 : 0) + (choosing.unmetBy?.(member) ?? 0);
}

function knows(card: ModelCard, { language, common }: Ask): boolean {
  const isDetected = language === 'auto';
  const named = [...(language === undefined || isDetected ? [] : [language]), ...(common?.languages ?? [])];
  if (!named.every((each) => speaks(card, each))) return false;
  return !isDetected || named.length > 0 || card.capabilities.language_detection || card.languages.includes('*');
}

/** Each own key is looked up once. */
function withKnownKeys(dependencies: ChainDependencies): ChainDependencies {
  const { ownKeyOf } = dependencies;
  if (ownKeyOf === undefined) return dependencies;
  const known = new Map<string, ReturnType<typeof ownKeyOf>>();
  return {
    ...dependencies,
    ownKeyOf: (organisationId, provider) => {
      const key = known.get(provider) ?? ownKeyOf(organisationId, provider);
      known.set(provider, key);
      return key;
    },
  };
}

interface Words {
  /** Behind "none", and behind "1 model that". */
  one: string;
  /** Behind "models that". */
  some: string;
}

const LIVE: Words = { one: 'transcribes live audio', some: 'transcribe live audio' };
const FILES: Words = { one: 'transcribes files', some: 'transcribe files' };

function languageWords({ language, common }: Ask): Words {
  const named = [...(language === undefined ? [] : [language]), ...(common?.languages ?? [])];
  if (named.length === 0) return { one: 'knows any language', some: 'know any language' };
  if (named.length === 1 && language === 'auto') return { one: 'detects the language', some: 'detect the language' };
  const shown = [...new Set(named)].map((each) => `\`${each}\``).join(' and ');
  return { one: `knows ${shown}`, some: `know ${shown}` };
}

function placeWords({ rules = [] }: Ask): Words {
  const { regions, retention } = strictest(rules);
  const place = regions === null ? '' : ` in ${regions.join(' or ') || 'any region'}`;
  const keeps = retention === null ? '' : ' and keep nothing';
  const words = `may process the audio${place}${keeps}`;
  return { one: words, some: words };
}

function neededBy({ diarization, common, interimResults }: Ask): string {
  const needed = [
    ...(diarization ? ['`diarization`'] : []),
    ...(common?.redact?.some(isVendorRedaction) ? ['`redact`'] : []),
    ...(interimResults ? ['`interim_results`'] : []),
  ];
  return needed.length === 0 ? '' : ` (${needed.join(', ')})`;
}

/** Remembers which condition left no model, and what was left before it. */
class Funnel {
  words = '';
  #before: { count: number; words: Words } | undefined;

  left(count: number, words: Words): void {
    if (this.words !== '') return;
    const before = this.#before;
    if (count > 0) this.#before = { count, words };
    else if (before === undefined) this.words = `No model here ${words.one}.`;
    else {
      const { count: all } = before;
      const models = all === 1 ? `the 1 model that ${before.words.one}` : `${all} models that ${before.words.some}`;
      this.words = `Of ${models}, none ${words.one}.`;
    }
  }
}
