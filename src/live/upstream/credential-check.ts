// Tries a credential out: sends the provider the request that its folder names, once, within a deadline. What the answer
// means is the folder's, what is done about it the vault's.
import type { CredentialVerdict, Provider, ProviderAccess } from '../../vendors/kit/provider.ts';
import { type ExchangeDependencies, exchange, plainContentOf } from './http/exchange.ts';
import { answerTimeout, LegFailed } from './leg-failures.ts';

const CHECK_MS = 10_000;
/** Checks are bounded by their number, not by organisation. */
const ANYBODY = '';

/** `unknown` also where the provider cannot be reached, is late, or has no such request. Never rejects. */
export async function checkCredential(
  { credentialCheck }: Pick<Provider, 'credentialCheck'>,
  access: ProviderAccess,
  dependencies: ExchangeDependencies,
): Promise<CredentialVerdict> {
  if (credentialCheck === undefined) return 'unknown';
  const { clock } = dependencies;
  const end = new AbortController();
  const timer = clock.setTimeout(() => end.abort(new LegFailed(answerTimeout)), CHECK_MS);
  try {
    const { url, headers } = credentialCheck.request(access, Date.now());
    const content = plainContentOf({ kind: 'none' });
    const answer = await exchange(
      { method: 'GET', url, headers, content, organisationId: ANYBODY, answerMs: CHECK_MS },
      end.signal,
      dependencies,
    );
    return credentialCheck.verdict(answer);
  } catch {
    // Whatever it was, it says nothing of the credential; and what an error says of the request may show it.
    return 'unknown';
  } finally {
    clock.clearTimeout(timer);
  }
}
