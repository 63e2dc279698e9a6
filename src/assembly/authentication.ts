// Authentication of a node, and how a revocation reaches every node: what the store hears is told on the bus, and what the
// bus tells ends the key here.
import { type Authenticator, createAuthenticator } from '../auth/authenticate.ts';
import { KEY_REVOKED, type KeyRevoked } from '../bus/subjects.ts';
import type { Assembly } from './context.ts';

/** @param endSessions ends the live sessions of a key */
export function openAuthenticator(
  { config, clock, bus, store, secret, defer }: Assembly,
  endSessions: (keyId: string) => void,
): Authenticator {
  const { secretPrevious } = config.data;
  const authenticator = createAuthenticator({
    store,
    secret,
    previousSecret: secretPrevious === undefined ? undefined : Buffer.from(secretPrevious),
    limits: config.limits,
    now: () => Date.now(),
    clock,
  });
  defer(() => authenticator.close());
  const publish = (keyId: string) => {
    const body: KeyRevoked = { type: KEY_REVOKED, keyId };
    bus.publish(KEY_REVOKED, body);
  };
  defer(store.onKeyRevoked(publish));
  defer(
    bus.subscribe(KEY_REVOKED, (body) => {
      const { keyId } = body as KeyRevoked;
      authenticator.revoked(keyId);
      endSessions(keyId);
    }),
  );
  return authenticator;
}
