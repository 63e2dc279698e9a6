// Authentication of a node, and how news of a key reaches every node: what the store hears, or the console does, is told on the
// bus, and what the bus tells holds here.
import { type Authenticator, createAuthenticator } from '../auth/authenticate.ts';
import type { Bus } from '../bus/bus.ts';
import { KEY_CHANGED, KEY_REVOKED, type KeyNews } from '../bus/subjects.ts';
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
  defer(store.onKeyRevoked((keyId) => publishKeyNews(bus, KEY_REVOKED, keyId)));
  defer(bus.subscribe(KEY_CHANGED, (body) => authenticator.evict((body as KeyNews).keyId)));
  defer(
    bus.subscribe(KEY_REVOKED, (body) => {
      const { keyId } = body as KeyNews;
      authenticator.revoked(keyId);
      endSessions(keyId);
    }),
  );
  return authenticator;
}

/** Tells every node, this one included. */
export function publishKeyNews(bus: Bus, type: KeyNews['type'], keyId: string): void {
  const news: KeyNews = { type, keyId };
  bus.publish(type, news);
}
