// The console's own HTTP API and the pages that mails lead to, as routes. Everything here is for people with a cookie; `/v1`
// never reads one.

import type { Clock } from '../../../../machines/clock.ts';
import { type ConsoleRoute, createConsoleRoute } from '../../../accounts/console-login/console-route.ts';
import type { Reach } from '../../../accounts/console-login/reach.ts';
import { keyRoutes } from '../../../accounts/keys/routes.ts';
import { Accounts, type AccountsOptions } from '../../../accounts/people/accounts.ts';
import { ClientLimit, HashQueue } from '../../../accounts/people/attempt-limits.ts';
import { Logins } from '../../../accounts/people/logins.ts';
import { TokenSeal } from '../../../accounts/people/mail-tokens.ts';
import type { DevelopmentOutbox } from '../../../accounts/people/mailer.ts';
import { joinRoutes } from '../../../accounts/people/pages/join.ts';
import { pageRoutes } from '../../../accounts/people/pages/mailed.ts';
import { Passwords } from '../../../accounts/people/passwords.ts';
import { accountRoutes } from '../../../accounts/people/routes.ts';
import { Invitations } from '../../../accounts/team/invitations.ts';
import { teamRoutes } from '../../../accounts/team/routes.ts';
import type { Route } from '../../../http/router.ts';
import { recordRoutes } from '../../../money/routes/records.ts';
import type { SessionsDependencies } from '../../../money/routes/sessions.ts';
import type { Store } from '../../store/store.ts';
import { overviewRoute } from './overview.ts';

/** Sign-ups, logins and uses of links by one client. */
const ATTEMPTS_PER_MINUTE_MAX = 20;
/** Requests of one organisation that are not only for reading, by people who are logged in. */
const CHANGES_PER_MINUTE_MAX = 60;

export interface ConsoleSettings extends Pick<AccountsOptions, 'welcomeMicroUsd' | 'signUpsPerAddressDayMax'> {
  /** Whether the server itself terminates TLS. */
  tls: boolean;
  /** 20 when absent. */
  attemptsPerMinuteMax?: number;
  /** 60 when absent. */
  changesPerMinuteMax?: number;
}

export interface ConsoleOptions {
  store: Store;
  /** The node's secret; the same that the mail sender's seal is made of. */
  secret: Uint8Array;
  settings: ConsoleSettings;
  /**
   * Whether this node is for clients on this machine only: it listens on loopback, has no public URL and trusts no proxy. Only
   * then are mails shown at `/console/outbox`, and cookies set without `Secure`, to browsers on this machine. No when absent.
   */
  isPrivate?: boolean;
  /** Where people reach the gateway, where that was said. */
  publicUrl?: string | undefined;
  clock: Clock;
  /** Wall-clock milliseconds, as the store has them. */
  nowMs(): number;
  /** Slugs that aliases of keys may name; any when absent. */
  models?: readonly string[];
  /** A session that is live on this node. */
  describeSession?: SessionsDependencies['describeSession'];
  /** A key's settings were changed, or it was rolled: what is remembered of it is old. */
  onKeyChanged?(keyId: string): void;
  /** Whether mails reach anybody; what needs one is refused otherwise. Yes when absent. */
  canMail?: boolean;
  /** Where there is no mail server: what the page `/console/outbox` shows. */
  outbox?: DevelopmentOutbox;
  /** How passwords are hashed; the best way there is when absent. */
  passwords?: Passwords;
  /** Further endpoints for people who are logged in, such as those of provider keys. */
  further?: readonly ((consoleRoute: ConsoleRoute) => Route[])[];
}

export interface Console {
  routes: Route[];
  /** For endpoints that need more than the console has. */
  consoleRoute: ConsoleRoute;
  /** Logins that wait for their turn; for the metrics. */
  readonly waitingHashes: number;
}

export function createConsole(options: ConsoleOptions): Console {
  const { store, secret, settings, clock, nowMs, outbox, passwords = new Passwords(), further = [], models } = options;
  const { onKeyChanged = () => {}, describeSession = () => undefined } = options;
  const { isPrivate = false, publicUrl, canMail = true } = options;
  const publicUrlIsHttps = publicUrl?.startsWith('https:') ?? false;
  const { tls, attemptsPerMinuteMax = ATTEMPTS_PER_MINUTE_MAX, changesPerMinuteMax, ...limits } = settings;
  const reach: Reach = { tls, isPrivate, publicUrlIsHttps };
  const hashes = new HashQueue();
  const attempts = new ClientLimit({ attemptsPerMinuteMax, clock });
  const seal = new TokenSeal(secret);
  const accounts = new Accounts({ store, seal, passwords, hashes, attempts, ...limits });
  const sendsMail = canMail && outbox === undefined;
  const invitations = new Invitations({ store, seal, sendsMail, passwords, hashes, attempts, ...limits });
  const logins = new Logins({ store, passwords, hashes, attempts, nowMs });
  const consoleRoute = createConsoleRoute(logins, reach, changeLimit(clock, changesPerMinuteMax));
  return {
    consoleRoute,
    routes: [
      ...accountRoutes({ store, accounts, logins, consoleRoute, reach, canMail }),
      ...teamRoutes({ store, invitations, logins, consoleRoute }),
      ...keyRoutes({ store, consoleRoute, models, nowMs, onKeyChanged }),
      ...recordRoutes({ store, consoleRoute, nowMs, describeSession }),
      overviewRoute(consoleRoute, { store, nowMs }),
      ...pageRoutes({ accounts, logins, reach, outbox }),
      ...joinRoutes({ invitations, logins, reach }),
      ...further.flatMap((routes) => routes(consoleRoute)),
    ],
    get waitingHashes() {
      return hashes.waiting;
    },
  };
}

function changeLimit(clock: Clock, attemptsPerMinuteMax = CHANGES_PER_MINUTE_MAX): ClientLimit {
  return new ClientLimit({
    attemptsPerMinuteMax,
    clock,
    sentence: 'Too many changes of this organisation in a minute.',
  });
}
