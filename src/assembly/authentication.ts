// Authentication of a node, and how news of a key reaches every node: what the store hears, or the console does, is told on the
// bus, and what the bus tells holds here.
import { type Authenticator, createAuthenticator } from '../auth/authenticate.ts';
import type { Bus } from '../bus/bus.ts';
import { KEY_CHANGED, KEY_REVOKED, type KeyNews, SUSPENSION, type Suspension } from '../bus/subjects.ts';
import type { SuspensionNews } from '../store/organisation-tables.ts';
import { type Assembly, previousSecret } from './context.ts';

/** `sessions` are asked to end those of a key, or of an organisation. */
export function openAuthenticator(
  { config, clock, bus, store, secret, defer }: Assembly,
  sessions: { revoke(keyId: string): void; suspend(organisationId: string): void },
): Authenticator {
  const authenticator = createAuthenticator({
    store,
    secret,
    previousSecret: previousSecret(config),
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
      sessions.revoke(keyId);
    }),
  );
  const publish = (news: SuspensionNews) => {
    const suspension: Suspension = { type: SUSPENSION, ...news };
    bus.publish(SUSPENSION, suspension);
  };
  defer(store.onSuspension(publish));
  defer(
    bus.subscribe(SUSPENSION, (body) => {
      const { organisationId, suspended } = body as Suspension;
      authenticator.evictOrganisation(organisationId);
      if (suspended) sessions.suspend(organisationId);
    }),
  );
  return authenticator;
}

/** Tells every node, this one included. */
export function publishKeyNews(bus: Bus, type: KeyNews['type'], keyId: string): void {
  const news: KeyNews = { type, keyId };
  bus.publish(type, news);
}
