// Which endpoint of a provider keeps to the rules of a request, and what must be requested of it: judged when a request is admitted, and
// again by the node that dials, with what it really dials with.
import { Value } from '@sinclair/typebox/value';
import type { Mode } from '../../api/models.ts';
import type { Processing } from '../../api/processing.ts';
import { type DataResidencyRule, isFree, isNamedRegion, REGIONS } from '../../api/residency-rule.ts';
import { processedAtUrl } from './cards.ts';
import type { ModelCard, Provider, ProviderAccess } from './provider.ts';

type Params = Readonly<Record<string, unknown>>;
type Place = Pick<Processing, 'region' | 'retention' | 'endpoints' | 'params'>;

/** What decides where a model's audio goes. */
export interface Dial {
  provider: Pick<Provider, 'endpoints'>;
  card: Pick<ModelCard, 'processing'>;
  mode: Mode;
  params: Params;
  access: ProviderAccess;
}

/** The access and the options that keep to the rule: those that are given, as far as they do. Undefined where none do. */
export function placed(dial: Dial, rule: DataResidencyRule): Pick<Dial, 'access' | 'params'> | undefined {
  const { access, params, provider } = dial;
  if (isFree(rule)) return { access, params };
  const place = placesOf(dial).find((each) => keeps(each, rule) && !contradicts(each.params ?? {}, params));
  if (place === undefined) return undefined;
  return { access: atEndpoint(access, place, provider.endpoints?.usual), params: { ...params, ...place.params } };
}

/** Whether what is dialled with keeps to the rule as it is. */
export function keepsTo(dial: Dial, rule: DataResidencyRule): ProviderAccess | undefined {
  const found = placed(dial, rule);
  return found !== undefined && Value.Equal(found.params, dial.params) ? found.access : undefined;
}

/** Where audio may go with this access, first where it goes when nothing is requested. */
export function placesOf({ provider, card, mode, access }: Omit<Dial, 'params'>): readonly Place[] {
  const { baseUrl, place, fields } = access;
  // What the catalogue says is said of the provider's own address.
  if (baseUrl !== undefined) return [{ region: place?.region ?? 'unknown', retention: place?.retention ?? 'unknown' }];
  const { usual, oneKey = false } = provider.endpoints ?? {};
  const rows = card.processing.filter(
    ({ modes, agreement }) => (modes?.includes(mode) ?? true) && (!agreement || place?.retention === 'none'),
  );
  const isAt = (endpoint: string | undefined) => (row: Place) =>
    endpoint === undefined ? row.endpoints === undefined : row.endpoints?.includes(endpoint) === true;
  const named = provider.endpoints === undefined ? undefined : fields?.region;
  const found = rows.filter(isAt(named ?? usual));
  if (named === undefined && oneKey) found.push(...rows.filter((row) => !found.includes(row)));
  const region = place?.region;
  return region === undefined ? found : [...found, ...found.map((row) => ({ ...row, region }))];
}

/** What is shown of a model: what the catalogue says, or what the configuration says of an address in its place. */
export const shownProcessing = ({ processing }: Pick<ModelCard, 'processing'>, { baseUrl, place }: ProviderAccess) =>
  baseUrl === undefined ? processing : processedAtUrl.map((row): Processing => ({ ...row, ...place }));

const keeps = ({ region, retention }: Place, rule: DataResidencyRule): boolean =>
  (rule.regions === null || (rule.regions as readonly string[]).includes(region)) &&
  (rule.retention === null || retention === rule.retention);

const contradicts = (needed: Params, given: Params): boolean =>
  Object.entries(needed).some(([name, value]) => Object.hasOwn(given, name) && !Value.Equal(given[name], value));

function atEndpoint(access: ProviderAccess, { endpoints }: Place, usual: string | undefined): ProviderAccess {
  if (endpoints === undefined || endpoints.includes(access.fields?.region ?? '')) return access;
  const region = usual !== undefined && endpoints.includes(usual) ? usual : (endpoints[0] as string);
  return { ...access, fields: { ...access.fields, region } };
}

/** What the configuration says of a provider. */
interface Said {
  region?: string | undefined;
  retention?: string | undefined;
}

/** The members of an access for what the configuration says: one of the provider's endpoints, or where a URL or this machine is. */
export function saidPlace(
  provider: Pick<Provider, 'endpoints'> | undefined,
  baseUrl: string | undefined,
  { region, retention }: Said,
): Pick<ProviderAccess, 'fields' | 'place'> {
  const isEndpoint = region !== undefined && baseUrl === undefined && provider?.endpoints !== undefined;
  const place: NonNullable<ProviderAccess['place']> = {};
  if (!isEndpoint && region !== undefined && isNamedRegion(region)) place.region = region;
  if (retention === 'none' || retention === 'kept') place.retention = retention;
  return { ...(isEndpoint ? { fields: { region } } : {}), ...(Object.keys(place).length === 0 ? {} : { place }) };
}

/** What the configuration could have said in its place; undefined where the provider has such an endpoint, or it is a region. */
export function notPlace(
  provider: Pick<Provider, 'endpoints'>,
  baseUrl: string | undefined,
  region: string,
): readonly string[] | undefined {
  const known = baseUrl === undefined ? (provider.endpoints?.names ?? REGIONS) : REGIONS;
  return known.includes(region) ? undefined : known;
}

/** What of the service's access holds for a customer's own credential: where it is configured to go. */
export const ownAddress = ({ baseUrl, place }: ProviderAccess): Pick<ProviderAccess, 'baseUrl' | 'place'> =>
  baseUrl === undefined || place === undefined ? { baseUrl } : { baseUrl, place };
