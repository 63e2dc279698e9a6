// What each model costs the gateway's customers: the providers' catalogue, what the operator says instead, and the margin.
// Checked as a whole before anybody is served; what a session costs by it is price.ts.
import { createHash } from 'node:crypto';
import type { AddOn, Mode, Model, Price } from '../../api/models.ts';
import { nearestSlugs } from '../../api/slug.ts';
import { type ExactPrice, microUsdOf, usdOf } from './price.ts';

/** A model of a catalogue, as far as prices go. */
export type PricedCard = Pick<Model, 'id' | 'modes' | 'pricing' | 'live_turns'>;

/** A price as the operator writes it. */
type PriceOverride = Pick<Price, 'unit' | 'amount' | 'minimum' | 'free' | 'add_ons'>;

/** By slug and mode. Null takes the catalogue's price away; what is absent stays. */
export type PriceOverrides = Readonly<Record<string, Partial<Record<Mode, PriceOverride | null>>>>;

/** Prices that cannot be used. The message is one sentence that names the model and the mode, and begins in lower case. */
export class PriceListError extends Error {
  override readonly name = 'PriceListError';
}

/** An effective price, and what its milliseconds are, where they are not those of the audio alone. */
export interface ListedPrice extends ExactPrice {
  metered?: 'connection';
  /** What costs more where it is requested. */
  addOns?: readonly PricedAddOn[];
}

interface PricedAddOn extends Omit<AddOn, 'amount'> {
  microUsd: bigint;
}

/** The price of what costs nothing. */
export const FREE: ListedPrice = { unit: 'minute', microUsd: 0n, minimumMicroUsd: 0n };

export interface PriceList {
  /** Undefined where the model has no price in the mode, or is unknown: then it cannot be used (`model_not_priced`). */
  priceOf(slug: string, mode: Mode): ListedPrice | undefined;
  /** The same without the margin: what a customer's own provider key counts for under ceilings on spend. */
  priceWithoutMargin(slug: string, mode: Mode): ListedPrice | undefined;
  /** The effective prices as clients see them. */
  shown(slug: string): Model['pricing'];
  /** The first 12 hexadecimal digits of the SHA-256 of all effective prices: two lists with the same charge the same. */
  readonly version: string;
}

const MODES: readonly Mode[] = ['batch', 'live'];
/** A percent has four decimals at most. */
const PERCENT_PARTS = 10_000n;
const WHOLE = 100n * PERCENT_PARTS;
const VERSION_LENGTH = 12;
/** A minute for more is a mistake; with the largest margin it is still less than the ledger takes. */
const USD_MAX = 10_000;
const MICRO_USD_MAX = microUsdOf(String(USD_MAX));

interface Effective extends ListedPrice {
  free: boolean;
}

/**
 * The effective prices. `marginPercent` is a decimal text with at most four places.
 *
 * @throws PriceListError
 */
export function createPriceList(
  providers: Iterable<{ models: readonly PricedCard[] }>,
  overrides: PriceOverrides = {},
  marginPercent = '0',
): PriceList {
  const cards = [...providers].flatMap((provider) => provider.models);
  refuseUnknown(overrides, cards);
  const factor = WHOLE + percentParts(marginPercent);
  const prices = new Map<string, Effective>();
  const withoutMargin = factor === WHOLE ? prices : new Map<string, Effective>();
  for (const card of cards) {
    const override = Object.hasOwn(overrides, card.id) ? overrides[card.id] : undefined;
    for (const mode of MODES) {
      const named = overrideOf(card, mode, override);
      const price = effective(card, mode, named, factor);
      if (price === undefined) continue;
      prices.set(nameOf(card.id, mode), price);
      const plain = factor === WHOLE ? undefined : effective(card, mode, named, WHOLE);
      if (plain !== undefined) withoutMargin.set(nameOf(card.id, mode), plain);
    }
  }
  return {
    version: versionOf(prices),
    priceOf: (slug, mode) => listedIn(prices, slug, mode),
    priceWithoutMargin: (slug, mode) => listedIn(withoutMargin, slug, mode),
    shown(slug) {
      const [batch, live] = MODES.map((mode) => prices.get(nameOf(slug, mode)));
      return {
        currency: 'USD',
        ...(batch === undefined ? {} : { batch: shownPrice(batch) }),
        ...(live === undefined ? {} : { live: shownPrice(live) }),
      };
    },
  };
}

const nameOf = (slug: string, mode: Mode): string => `${slug} ${mode}`;

function listedIn(prices: ReadonlyMap<string, Effective>, slug: string, mode: Mode): ListedPrice | undefined {
  const price = prices.get(nameOf(slug, mode));
  if (price === undefined) return undefined;
  const { free: _, ...listed } = price;
  return listed;
}

function refuseUnknown(overrides: PriceOverrides, cards: readonly PricedCard[]): void {
  const known = cards.map((card) => card.id);
  for (const [slug, modes] of Object.entries(overrides)) {
    const card = cards.find(({ id }) => id === slug);
    if (card === undefined) {
      const [nearest] = nearestSlugs(slug, known, 1);
      const hint = nearest === undefined ? '`voxgate models` lists them' : `the nearest is ${nearest}`;
      throw new PriceListError(`there is no model ${JSON.stringify(slug.slice(0, 80))}; ${hint}.`);
    }
    for (const mode of MODES) {
      if (modes[mode] === undefined || card.modes.includes(mode)) continue;
      throw new PriceListError(`${slug} has no ${mode} mode that could be priced; it has ${card.modes.join(' and ')}.`);
    }
  }
}

/** A model that hears files only costs the same in a live session, unless the operator sets a price for that. */
function overrideOf(
  { live_turns }: PricedCard,
  mode: Mode,
  override: PriceOverrides[string] | undefined,
): PriceOverride | null | undefined {
  const own = override?.[mode];
  return own === undefined && mode === 'live' && live_turns === 'gateway' ? override?.batch : own;
}

function effective(
  card: PricedCard,
  mode: Mode,
  override: PriceOverride | null | undefined,
  factor: bigint,
): Effective | undefined {
  const price = override === undefined ? card.pricing[mode] : override;
  if (price === undefined || price === null) return undefined;
  const where = `${card.id} (${mode})`;
  if (!card.modes.includes(mode)) throw new PriceListError(`${where} has a price, and the model has no such mode.`);
  const checked: Effective = {
    ...check(price, where),
    ...meteredOf(card, mode, price),
    ...addOnsOf(price.add_ons ?? card.pricing[mode]?.add_ons, price, where),
  };
  if (checked.free) return checked;
  return {
    ...checked,
    microUsd: withMargin(checked.microUsd, factor),
    minimumMicroUsd: withMargin(checked.minimumMicroUsd, factor),
    ...(checked.addOns && {
      addOns: checked.addOns.map((addOn) => ({ ...addOn, microUsd: withMargin(addOn.microUsd, factor) })),
    }),
  };
}

/** What its vendor charges on its own is charged beside any price of a minute, unless the operator says otherwise. */
function addOnsOf(
  addOns: readonly AddOn[] | undefined,
  { unit, free }: PriceOverride,
  where: string,
): Pick<ListedPrice, 'addOns'> {
  if (addOns === undefined || addOns.length === 0 || unit === 'session' || free) return {};
  return {
    addOns: addOns.map(({ amount, ...addOn }) => ({
      ...addOn,
      microUsd: amountOf(amount, `the add-on ${JSON.stringify(addOn.name)} of ${where}`),
    })),
  };
}

/** What its vendor meters stays so at any price of a minute; what is paid once is not metered. */
const meteredOf = ({ pricing }: PricedCard, mode: Mode, { unit }: PriceOverride): Pick<ListedPrice, 'metered'> =>
  unit === 'minute' && pricing[mode]?.metered === 'connection' ? { metered: 'connection' } : {};

/** A price that is meant as it is written. Zero by mistake would give the model away. */
function check(price: PriceOverride, where: string): Effective {
  const { unit, free = false } = price;
  if (unit !== 'minute' && unit !== 'session') {
    throw new PriceListError(`${where} is priced by ${JSON.stringify(unit)}; it is minute or session.`);
  }
  const microUsd = amountOf(price.amount, `the amount of ${where}`);
  const minimumMicroUsd = price.minimum === undefined ? 0n : amountOf(price.minimum, `the minimum of ${where}`);
  if (free && (microUsd > 0n || minimumMicroUsd > 0n)) {
    throw new PriceListError(`${where} is marked free and has a price; leave out one of them.`);
  }
  if (!free && microUsd === 0n) {
    throw new PriceListError(`${where} has a price of 0; where that is meant, mark it with "free": true.`);
  }
  if (unit === 'session' && minimumMicroUsd > 0n) {
    throw new PriceListError(`${where} is priced by the session, which has no minimum; the amount is what is charged.`);
  }
  return { unit, microUsd, minimumMicroUsd, free };
}

function amountOf(amount: string, what: string): bigint {
  const microUsd = /^\d{1,7}(\.\d{1,6})?$/.test(amount) ? microUsdOf(amount) : undefined;
  if (microUsd !== undefined && microUsd <= MICRO_USD_MAX) return microUsd;
  throw new PriceListError(
    `${what} is ${JSON.stringify(amount)}; it is a decimal text in USD such as "0.0043", from 0 to ${USD_MAX} with at most six places.`,
  );
}

function percentParts(text: string): bigint {
  const match = /^(\d{1,4})(?:\.(\d{1,4}))?$/.exec(text);
  const parts =
    match === null ? undefined : BigInt(match[1] as string) * PERCENT_PARTS + BigInt((match[2] ?? '').padEnd(4, '0'));
  if (parts !== undefined && parts <= 1000n * PERCENT_PARTS) return parts;
  throw new PriceListError(`the margin is ${JSON.stringify(text)}; it is a decimal text from 0 to 1000 percent.`);
}

/** Rounded half-up, once. */
const withMargin = (microUsd: bigint, factor: bigint): bigint => (2n * microUsd * factor + WHOLE) / (2n * WHOLE);

function shownPrice({ unit, microUsd, minimumMicroUsd, free, metered, addOns }: Effective): Price {
  return {
    unit,
    amount: usdOf(microUsd),
    byok: '0.00',
    ...(free ? { free } : {}),
    ...(metered === undefined ? {} : { metered }),
    ...(minimumMicroUsd === 0n ? {} : { minimum: usdOf(minimumMicroUsd) }),
    ...(addOns && { add_ons: addOns.map(({ microUsd: more, ...addOn }) => ({ ...addOn, amount: usdOf(more) })) }),
  };
}

function versionOf(prices: ReadonlyMap<string, Effective>): string {
  const lines = [...prices].map(
    ([name, { unit, microUsd, minimumMicroUsd, free, metered = '', addOns = [] }]) =>
      `${name} ${unit} ${microUsd} ${minimumMicroUsd} ${free}${metered}${addOns.map((addOn) => ` ${addOn.microUsd} ${addOn.asked_by}`)}`,
  );
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex').slice(0, VERSION_LENGTH);
}

/** What decides about add-ons: the request's own members, and the options that the model is sent. */
interface AskedOf {
  language: string | undefined;
  diarization: boolean;
  params: Readonly<Record<string, unknown>>;
}

/** Whether it is requested by any of its names: members of the request, of which one may name its value, or options. */
function isAsked({ asked_by: names }: Pick<AddOn, 'asked_by'>, { language, diarization, params }: AskedOf): boolean {
  const members: Readonly<Record<string, unknown>> = { diarization, [`language=${language}`]: true };
  return names.some((name) => {
    const option = name.startsWith(OPTION) ? params[name.slice(OPTION.length)] : members[name];
    return Array.isArray(option) ? option.length > 0 : option !== undefined && option !== false && option !== '';
  });
}

const OPTION = 'provider_params.';

/**
 * The price of a minute with all add-ons that a request asks for and the provider charges separately; a price of the session,
 * and what is free, includes everything. A minimum is N seconds at the price, so it grows with it.
 */
export function priceWith({ addOns = [], ...price }: ListedPrice, asked: AskedOf): Omit<ListedPrice, 'addOns'> {
  const microUsd = addOns
    .filter((addOn) => isAsked(addOn, asked))
    .reduce((sum, addOn) => sum + addOn.microUsd, price.microUsd);
  if (microUsd === price.microUsd) return price;
  return {
    ...price,
    microUsd,
    minimumMicroUsd: (price.minimumMicroUsd * microUsd + price.microUsd - 1n) / price.microUsd,
  };
}
