// The people's side of a node: their mails, their logins and the console's routes.
import { type MailEvent, startMailSender } from '../accounts/people/mail-sender.ts';
import { TokenSeal } from '../accounts/people/mail-tokens.ts';
import { createDevelopmentOutbox, createSmtpTransport } from '../accounts/people/mailer.ts';
import { providerKeyRoutes } from '../accounts/vault/routes.ts';
import type { Vault } from '../accounts/vault/vault.ts';
import { KEY_CHANGED } from '../cluster/bus/subjects.ts';
import { microUsdOf } from '../config/prices/price.ts';
import { type WebhookRoutesDependencies, webhookConsoleRoutes } from '../webhooks/routes.ts';
import { publishKeyChange } from './authentication.ts';
import { type Assembly, canMail, isPrivate, previousSecret } from './context.ts';
import { type Console, type ConsoleOptions, createConsole } from './routes/console/index.ts';

export type People = Pick<Console, 'routes' | 'consoleRoute'>;

export interface PeopleOptions
  extends Required<Pick<ConsoleOptions, 'describeSession'>>,
    Pick<Mails, 'outbox'>,
    Pick<WebhookRoutesDependencies, 'webhooks'> {}

/** `outbox`: where mails are kept to be read, when nothing sends them. */
export function openPeople(
  assembly: Assembly,
  vault: Vault,
  { describeSession, outbox, webhooks }: PeopleOptions,
): People {
  const { config, clock, metrics, bus, store, secret, defer } = assembly;
  const { publicUrl, welcomeCreditUsd, signUpsPerAddressDayMax } = config.accounts;
  const opened = createConsole({
    store,
    secret,
    settings: {
      welcomeMicroUsd: microUsdOf(welcomeCreditUsd),
      signUpsPerAddressDayMax,
      tls: config.server.tlsCertFile !== undefined,
    },
    isPrivate: isPrivate(config),
    canMail: canMail(assembly),
    publicUrl,
    clock,
    nowMs: () => Date.now(),
    models: [...assembly.providers.values()].flatMap(({ models }) => models.map(({ id }) => id)),
    describeSession,
    onKeyChanged: (keyId) => publishKeyChange(bus, KEY_CHANGED, keyId),
    ...(outbox === undefined ? {} : { outbox }),
    further: [
      providerKeyRoutes({ vault, providers: assembly.providers }),
      webhookConsoleRoutes({ webhooks, wallNow: () => new Date() }),
    ],
  });
  defer(metrics.watchQueue('password_hashes', () => opened.waitingHashes));
  return opened;
}

/** The mails of the gateway, on the node that keeps the accounts. */
export interface Mails {
  /** Where mails are kept to be read, without a server that sends them. */
  outbox: ReturnType<typeof createDevelopmentOutbox> | undefined;
  /** Begins to send mails, of which some may have waited; the node listens then. */
  start(): void;
}

/** `ownUrl`: where the node listens, for links in mails when no public URL is configured. */
export function openMails(assembly: Assembly, ownUrl: () => string): Mails {
  const { config, logger, clock, store, secret, defer } = assembly;
  const { smtpUrl, mailFrom, publicUrl, signUpsPerAddressDayMax } = config.accounts;
  const nowMs = () => Date.now();
  if (!canMail(assembly) && signUpsPerAddressDayMax > 0) {
    logger.warn('sign-up is not possible: VOXGATE_SMTP_URL is not set, and the outbox only works on this machine');
  }
  const outbox = smtpUrl === undefined ? createDevelopmentOutbox(nowMs) : undefined;
  const transport = outbox ?? createSmtpTransport({ url: smtpUrl as string, from: mailFrom });
  defer(() => transport.close());
  return {
    outbox,
    start: () => {
      const sender = startMailSender({
        store,
        transport,
        seal: new TokenSeal(secret, previousSecret(config)),
        publicUrl: () => publicUrl ?? ownUrl(),
        clock,
        nowMs,
        onEvent: (event) => heard(assembly, event),
      });
      defer(() => sender.close());
    },
  };
}

/** Logs no address, no token and no text of a mail. */
function heard({ logger, metrics }: Assembly, event: MailEvent): void {
  if (event.type === 'store_failed') {
    logger.error({ err: event.error }, 'outbox fault');
    return;
  }
  metrics.mail(event.type);
  const { mail, attempt } = event;
  switch (event.type) {
    case 'kept':
      logger.info({ mail }, 'a mail waits at /console/outbox');
      break;
    case 'sent':
      logger.info({ mail, attempt }, 'mail sent');
      break;
    case 'failed':
      logger.warn({ mail, attempt, code: event.code }, 'mail failed');
      break;
    case 'given_up':
      logger.error({ mail, attempt, code: event.code }, 'mail given up');
  }
}
