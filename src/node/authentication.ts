// Authentication of a node, and how changes of a key reach every node: what the store hears, or the console does, is told on the
// bus, and what the bus tells holds here.
import { type Authenticator, createAuthenticator } from '../accounts/auth/authenticate.ts';
import { createKeyLimits, createSharedKeyLimits, type KeyLimits } from '../accounts/auth/limits.ts';
import { type KeyInUse, keepReconciled, listenToAccountChanges } from '../cluster/accounts/account-changes.ts';
import type { AccountsClient } from '../cluster/accounts/client.ts';
import type { Bus } from '../cluster/bus/bus.ts';
import { KEY_REVOKED, type KeyChange, SUSPENSION, type Suspension } from '../cluster/bus/subjects.ts';
import { type ClusterLimits, openClusterLimits } from '../cluster/limits/limits.ts';
import { LimitsMessages } from '../cluster/limits/messages.ts';
import type { Membership } from '../cluster/membership/membership.ts';
import { type Assembly, previousSecret, secretsOf } from './context.ts';
import type { Store } from './store/store.ts';

/** Sessions of this node, as changes of keys concern them. */
export interface KeyedSessions {
  revoke(keyId: string): void;
  suspend(organisationId: string): void;
  keysInUse(): Iterable<KeyInUse>;
}

/** `client`: where the accounts are another node's. */
export function openAuthenticator(
  { config, clock, logger, metrics, bus, store, secret, defer }: Assembly,
  sessions: KeyedSessions,
  client: AccountsClient | undefined,
): Authenticator {
  const authenticator = createAuthenticator({
    store,
    secret,
    previousSecret: previousSecret(config),
    limits: config.limits,
    now: () => Date.now(),
    clock,
    ...(client === undefined ? {} : { hearsNews: () => bus.isConnected }),
  });
  defer(() => authenticator.close());
  const revoke = (keyId: string) => {
    authenticator.revoked(keyId);
    sessions.revoke(keyId);
  };
  const suspend = (organisationId: string) => {
    authenticator.evictOrganisation(organisationId);
    sessions.suspend(organisationId);
  };
  defer(
    listenToAccountChanges(bus, {
      revoked: revoke,
      changed: (keyId) => authenticator.evict(keyId),
      suspension: (organisationId, suspended) => {
        if (suspended) suspend(organisationId);
        else authenticator.evictOrganisation(organisationId);
      },
      unread: () => metrics.dropped('unread_news'),
    }),
  );
  defer(
    keepReconciled({
      bus,
      ...(client === undefined ? {} : { client }),
      clock,
      // Keys that are in use by requests as well: the next outage must find them known.
      store: { findKey: (organisationId, keyId) => authenticator.refreshKey(organisationId, keyId) },
      keysInUse: () => [...sessions.keysInUse(), ...authenticator.recentKeys()],
      revoke,
      suspend,
      doubt: () => authenticator.doubt(),
      onFault: (error) => logger.error({ err: error }, 'keys in use could not be looked up'),
    }),
  );
  return authenticator;
}

/** On the node with the database: announces its changes to every node. */
export function publishAccountChanges({ bus, defer }: Pick<Assembly, 'bus' | 'defer'>, store: Store): void {
  defer(store.onKeyRevoked((keyId) => publishKeyChange(bus, KEY_REVOKED, keyId)));
  defer(
    store.onSuspension((change) => {
      const suspension: Suspension = { type: SUSPENSION, ...change };
      bus.publish(SUSPENSION, suspension);
    }),
  );
}

/** Announces to every node, this one included. */
export function publishKeyChange(bus: Bus, type: KeyChange['type'], keyId: string): void {
  const change: KeyChange = { type, keyId };
  bus.publish(type, change);
}

// How much a key may ask for: counted here, or over all nodes that serve clients.
export function openKeyLimits({ config, clock }: Assembly, shared: ClusterLimits | undefined): KeyLimits {
  const options = { ...config.limits, clock };
  return shared === undefined ? createKeyLimits(options) : createSharedKeyLimits(options, shared);
}

/**
 * What is counted over all nodes; undefined on a single node.
 *
 * @param accounts undefined on the node that keeps them, which also counts
 */
export function openSharedLimits(
  assembly: Assembly,
  members: Membership | undefined,
  accounts: Pick<AccountsClient, 'isAway'> | undefined,
): ClusterLimits | undefined {
  if (members === undefined) return undefined;
  const { clock, bus, metrics, defer } = assembly;
  const messages = new LimitsMessages(secretsOf(assembly));
  const shared = openClusterLimits({
    bus,
    clock,
    messages,
    edges: () => members.count('edge'),
    others: () => otherEdges(members),
    onNodes: (listener) => members.onNodes(listener),
    isCounterAway: () => accounts?.isAway === true,
  });
  defer(() => shared.close());
  metrics.watchGauge(
    'sessions_on_trust',
    'Sessions, files and streams at providers that started while the count over all nodes was unavailable, since the start.',
    () => shared.places.trusted,
  );
  return shared;
}

const otherEdges = (members: Membership) =>
  members
    .nodes()
    .filter(({ node, roles }) => node !== members.node && roles.includes('edge'))
    .map(({ node, upstreamRevision }) => ({ node, isEarlier: upstreamRevision === undefined }));
