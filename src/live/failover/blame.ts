// Whom a refusal blames. Every request was checked before it began, and the gateway wrote most of what a provider is sent: the
// customer is at fault only where the provider names an option that the customer set. The options are those of this model
// alone; what is asked of every model, such as a language, another one may take.
import type { LegFailure } from '../../../machines/events.ts';
import type { OptionRow } from '../../vendors/kit/options.ts';
import type { ResolvedCandidate } from './chain.ts';

/**
 * The failure as it is decided on: what blames the request and none of its options is left to the next model, and says nothing of
 * this one, or a customer with odd files could have it left alone for all.
 *
 * @param othersTook another model has taken the same request, which cannot be at fault alone
 */
export function judged(
  failure: LegFailure,
  member: Pick<ResolvedCandidate, 'params' | 'provider'>,
  othersTook = false,
): LegFailure {
  const isNobodys = failure.kind === 'caller' && (othersTook || !namesOption(failure.message, member));
  return isNobodys ? { ...failure, kind: 'next', own: true, lasting: true } : failure;
}

function namesOption(message: string, { params, provider }: Pick<ResolvedCandidate, 'params' | 'provider'>): boolean {
  const said = new Set(message.toLowerCase().match(/\w+/g));
  return Object.keys(params)
    .flatMap((option) => [option, ...wireNamesOf(provider.optionRows?.[option])])
    .some((name) => said.has(name) || said.has(`${name}s`));
}

/** What the option is called on the wire, where that is not its own name. */
const wireNamesOf = ({ wire }: Partial<OptionRow> = {}): string[] =>
  (typeof wire === 'object' ? Object.values(wire) : [wire]).filter((name) => typeof name === 'string');

/** Failures of a dial that may be the doing of the node that has dialled: its network, its credential, its build. */
const CODES: ReadonlySet<string> = new Set([
  ...['unreachable', 'handshake_failed', 'connect_timeout'],
  ...['own_key_unavailable', 'internal_fault'],
]);

/**
 * Whether another node is to try: what it meets alone is no news of the provider. `ownKey`: the credential is the customer's own, and the same on every node.
 */
export const mayBeOfNode = ({ kind, code = '' }: Partial<LegFailure>, ownKey: boolean): boolean =>
  CODES.has(code) || (kind === 'account' && !ownKey);
