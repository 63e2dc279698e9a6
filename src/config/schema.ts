// The one declaration of the configuration: names, ranges, defaults, variables, words. fields.ts lists it, load.ts reads the
// values, reference.ts prints them; what the values do is decided where they are used.

import { availableParallelism } from 'node:os';
import { type Static, Type } from '@sinclair/typebox';
import type { CustomModel } from '../vendors/custom/model.ts';
import type { LocalModel } from '../vendors/local/own-model.ts';
import { Backup } from './schema-backup.ts';
import { Cluster } from './schema-cluster.ts';
import { Limits } from './schema-limits.ts';
import { Redaction } from './schema-redaction.ts';
import { Session } from './schema-session.ts';
import { Sources } from './schema-sources.ts';
import { Tracing } from './schema-tracing.ts';
import { choice, integer, optionalText } from './schema-types.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const Server = Type.Object({
  host: Type.String({
    format: 'host',
    default: '127.0.0.1',
    env: 'VOXGATE_HOST',
    accepts: 'a host name or an IP address, without a port',
    description: 'Address to listen on; `0.0.0.0` is every IPv4 interface.',
  }),
  port: integer('VOXGATE_PORT', 0, 65535, 8080, 'Port to listen on; 0 picks a free one.'),
  door: choice(
    'VOXGATE_DOOR',
    ['auto', 'uws', 'node'],
    'auto',
    'HTTP server adapter: uWebSockets.js, or `node:http` with ws. `auto` uses the first if its binary loads and passes a check.',
  ),
  metricsToken: optionalText(Type.String({ minLength: 16, maxLength: 1024, pattern: '^[!-~]+$' }), {
    env: 'VOXGATE_METRICS_TOKEN',
    accepts: 'a text of 16 to 1024 printable ASCII characters without spaces',
    description:
      'Bearer credential for `/metrics`. Without it, `/metrics` is only open if the gateway only listens on this machine, without a proxy or a public URL.',
    secret: true,
  }),
  tlsCertFile: optionalText(Type.String({ minLength: 1 }), {
    env: 'VOXGATE_TLS_CERT_FILE',
    accepts: 'the path of a readable PEM file',
    description: 'Certificate chain for HTTPS; goes with the key file.',
  }),
  tlsKeyFile: optionalText(Type.String({ minLength: 1 }), {
    env: 'VOXGATE_TLS_KEY_FILE',
    accepts: 'the path of a readable PEM file',
    description: 'Private key for HTTPS; goes with the certificate file.',
    quotable: false,
  }),
  queryCredentials: choice(
    'VOXGATE_QUERY_CREDENTIALS',
    ['on', 'off'],
    'on',
    'Whether the query parameter `api_key` of `/v1/listen` is accepted as a credential; URLs are logged.',
  ),
  webhookNetworks: optionalText(Type.String({ format: 'networks', maxLength: 4096 }), {
    env: 'VOXGATE_WEBHOOK_NETWORKS',
    accepts: 'IP addresses and networks such as `10.0.0.0/8`, separated by commas, and not the whole Internet',
    description:
      'Private addresses to which the gateway may connect for customers, also without TLS: for webhooks, events of telephone calls and audio by URL. Other addresses must use `https` on the Internet.',
  }),
  trustedProxies: optionalText(Type.String({ format: 'networks', maxLength: 4096 }), {
    env: 'VOXGATE_TRUSTED_PROXIES',
    accepts: 'IP addresses and networks such as `10.0.0.0/8`, separated by commas, and not the whole Internet',
    description: 'Proxies whose `X-Forwarded-For` is trusted. For all others, the address of the connection counts.',
  }),
});

/** 32 bytes in base64, or in its form for URLs. */
const VAULT_KEY = '^[A-Za-z0-9+/_-]{43}=?$';

const Data = Type.Object({
  directory: Type.String({
    minLength: 1,
    pattern: '^[^\\0]*$',
    default: './data',
    env: 'VOXGATE_DATA_DIRECTORY',
    accepts: 'the path of a directory on a local disk',
    description: 'Directory of the database and the generated secret. Created if missing.',
  }),
  databaseMissing: choice(
    'VOXGATE_DATABASE_MISSING',
    ['make', 'stop'],
    'make',
    'What happens if the accounts node finds no database in its data directory: `make` creates a new ledger; `stop` ends the node, for volumes that may not be mounted.',
  ),
  secret: optionalText(Type.String({ minLength: 32, maxLength: 1024, pattern: '^\\S+$' }), {
    env: 'VOXGATE_SECRET',
    accepts: 'a text of 32 to 1024 characters without spaces',
    description:
      'Signs client tokens. Use the same value on every node. Generated into the data directory when absent.',
    secret: true,
  }),
  secretPrevious: optionalText(Type.String({ minLength: 32, maxLength: 1024, pattern: '^\\S+$' }), {
    env: 'VOXGATE_SECRET_PREVIOUS',
    accepts: 'a text of 32 to 1024 characters without spaces',
    description: 'The previous secret, for the five minutes in which client tokens signed with it may still be valid.',
    secret: true,
  }),
  vaultKey: optionalText(Type.String({ pattern: VAULT_KEY }), {
    env: 'VOXGATE_VAULT_KEY',
    accepts: '32 bytes in base64',
    description:
      'Encrypts the customers’ own provider keys. Only the accounts node needs it. Generated into the file `vault-key` of the data directory when absent. If you lose it, those keys are lost.',
    secret: true,
  }),
  vaultKeyPrevious: optionalText(Type.String({ pattern: VAULT_KEY }), {
    env: 'VOXGATE_VAULT_KEY_PREVIOUS',
    accepts: '32 bytes in base64',
    description: 'The previous vault key, until `voxgate vault rotate` has re-encrypted everything.',
    secret: true,
  }),
});

const Upstream = Type.Object({
  loopback: choice(
    'VOXGATE_LOOPBACK',
    ['off', 'on'],
    'off',
    'Whether clients are offered the models of `loopback/…`, which recognise nothing: for tests of programs.',
  ),
  dialsPerModelMax: integer(
    'VOXGATE_DIALS_PER_MODEL_MAX',
    1,
    100_000,
    50,
    'Concurrent dials to one model. Further sessions wait.',
  ),
  breakerFailuresMax: integer(
    'VOXGATE_BREAKER_FAILURES_MAX',
    1,
    1_000,
    5,
    'Failures of a model in a row after which sessions go to their fallbacks at once.',
  ),
  breakerOpenMs: integer(
    'VOXGATE_BREAKER_OPEN_MS',
    100,
    HOUR,
    10 * SECOND,
    'How long such a model is not used before the next attempt. It doubles with each further failure.',
  ),
  breakerOpenMsMax: integer(
    'VOXGATE_BREAKER_OPEN_MS_MAX',
    100,
    24 * HOUR,
    5 * MINUTE,
    'The longest such time, even if a provider requests more.',
  ),
});

const Batch = Type.Object({
  timeoutMs: integer(
    'VOXGATE_BATCH_TIMEOUT_MS',
    SECOND,
    24 * HOUR,
    10 * MINUTE,
    'Longest duration of a file’s transcription.',
  ),
  memoryBytesMax: integer(
    'VOXGATE_BATCH_MEMORY_BYTES_MAX',
    64 * KIB,
    256 * MIB,
    2 * MIB,
    'Memory for the audio of one file.',
  ),
  hearEmptyAgain: choice(
    'VOXGATE_BATCH_HEAR_EMPTY_AGAIN',
    ['on', 'off'],
    'on',
    'Whether the next model of the request transcribes a file again if it contains sound but the model returned no words.',
  ),
});

/** What can be said of one provider. Variables carry the provider's name in capitals in the place of `<PROVIDER>`. */
export const ProviderSettings = Type.Object({
  url: optionalText(Type.String({ format: 'base-url', maxLength: 2048 }), {
    env: 'VOXGATE_<PROVIDER>_URL',
    accepts: 'an http, https, ws or wss URL without user name, query or fragment',
    description: 'Base URL of the provider: a deployment of your own, a proxy or a simulator.',
    quotable: false,
  }),
  apiKey: optionalText(Type.String({ minLength: 1, maxLength: 4096, pattern: '^(?:[!-~]+|\\{[!-~\\s]+\\})$' }), {
    env: '<PROVIDER>_API_KEY',
    accepts: 'a text of 1 to 4096 printable ASCII characters without spaces',
    description: 'Credential at the provider: its key, or a JSON object where it has several members.',
    secret: true,
  }),
  streamsMax: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      env: 'VOXGATE_<PROVIDER>_STREAMS_MAX',
      description:
        'Concurrent live streams that your account at the provider may have, over all nodes. Further sessions begin at their next model. Unlimited if unset.',
    }),
  ),
  region: optionalText(Type.String({ pattern: '^[a-z0-9-]{1,40}$' }), {
    env: 'VOXGATE_<PROVIDER>_REGION',
    accepts: 'one of the provider’s endpoints, or with a URL a region such as `eu`',
    description:
      'The provider’s endpoint of the credential, if the provider has several. Or the location of the URL, for residency rules.',
  }),
  retention: optionalText(Type.String({ pattern: '^(none|kept)$' }), {
    env: 'VOXGATE_<PROVIDER>_RETENTION',
    accepts: '`none` or `kept`',
    description:
      '`none`: your contract with the provider says that it keeps nothing, or the server at the URL keeps nothing.',
  }),
});

const Log = Type.Object({
  level: choice(
    'VOXGATE_LOG_LEVEL',
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
    'Lowest level that is logged, on standard output: one JSON object per line, or readable lines on a terminal.',
  ),
});

const Accounts = Type.Object({
  welcomeCreditUsd: Type.String({
    pattern: '^\\d{1,6}(\\.\\d{1,6})?$',
    default: '2.00',
    env: 'VOXGATE_WELCOME_CREDIT_USD',
    accepts: 'an amount in USD such as `2.00`, with at most six decimals',
    description: 'Credit of a new account once its e-mail address is verified; 0 for none.',
  }),
  signUpsPerAddressDayMax: integer(
    'VOXGATE_SIGN_UPS_PER_ADDRESS_DAY_MAX',
    0,
    1_000_000,
    10,
    'Sign-ups from one network address in 24 hours; 0 closes the sign-up.',
  ),
  publicUrl: optionalText(Type.String({ format: 'public-url', maxLength: 2048 }), {
    env: 'VOXGATE_PUBLIC_URL',
    accepts: 'an http or https URL without user name, query or fragment',
    description: 'Public address of this gateway, for links in mails. The listening address when absent.',
    quotable: false,
  }),
  smtpUrl: optionalText(Type.String({ format: 'smtp-url', maxLength: 4096 }), {
    env: 'VOXGATE_SMTP_URL',
    accepts: 'an smtp or smtps URL such as `smtp://user:password@mail.example.com:587`',
    description:
      'The mail server. Without one, mails wait at `/console/outbox` of a gateway that only this machine can reach.',
    secret: true,
  }),
  mailFrom: Type.String({
    pattern: '^[^\\r\\n]*[^\\s@<>]+@[^\\s@<>]+>?$',
    maxLength: 320,
    default: 'Voxgate <voxgate@localhost>',
    env: 'VOXGATE_MAIL_FROM',
    accepts: 'a sender such as `Voxgate <accounts@example.com>`',
    description: 'Sender of mails.',
  }),
});

const Billing = Type.Object({
  pricesFile: optionalText(Type.String({ minLength: 1, pattern: '^[^\\0]*$' }), {
    env: 'VOXGATE_PRICES_FILE',
    accepts: 'the path of a readable JSON file',
    description:
      'Prices in USD that replace those of the catalogue, by model and mode: ' +
      '`{"deepgram/nova-3": {"live": {"unit": "minute", "amount": "0.006", "minimum": "0.01"}, "batch": null}}`; ' +
      'null removes a price: the model can then not be used in that mode.',
  }),
  marginPercent: Type.String({
    pattern: '^(\\d{1,3}(\\.\\d{1,4})?|1000(\\.0{1,4})?)$',
    default: '0',
    env: 'VOXGATE_MARGIN_PERCENT',
    accepts: 'a decimal text from 0 to 1000 with at most four places',
    description:
      'Added to every price that is not free, including your own prices; rounded half-up to whole micro-USD.',
  }),
  spendCeilings: optionalText(Type.String({ format: 'spend-ceilings', maxLength: 4096 }), {
    env: 'VOXGATE_SPEND_CEILINGS',
    accepts: 'ceilings such as `500/day,10000/month,deepgram:100/day`, separated by commas, or `none`',
    description:
      'The most that all organisations together may spend in an hour, day or month (UTC), over all providers or at one. Further paid requests are refused; with `500/day:only_up_to=0.005`, models up to 0.005 USD a minute may still be used. The node that owns the accounts stores them, so set the same value on all of them; `none` removes them, and without the variable they stay as they are.',
  }),
  usageJournalSyncMs: integer(
    'VOXGATE_USAGE_JOURNAL_SYNC_MS',
    100,
    5 * SECOND,
    4 * SECOND,
    'How often usage of live sessions is written to disk. A killed process loses unwritten usage, which is not billed.',
  ),
  ledgerGraceMs: integer(
    'VOXGATE_LEDGER_GRACE_MS',
    0,
    4 * HOUR,
    10 * MINUTE,
    'Audio that a live session may send while the ledger does not answer.',
  ),
  untakenFilesFree: integer(
    'VOXGATE_UNTAKEN_FILES_FREE',
    0,
    1_000,
    3,
    'Files per day, organisation and process that are free if the client disconnects before the answer. Further ones are completed and charged.',
  ),
  usageHistoryDays: integer(
    'VOXGATE_USAGE_HISTORY_DAYS',
    0,
    366,
    14,
    'How long the usage of settled sessions is kept outside the ledger, for a ledger that is restored from a backup.',
  ),
});

const workersDefault = Math.min(64, Math.max(1, availableParallelism() - 1));
const dictationSlotsDefault = Math.min(64, Math.max(2, availableParallelism()));
const dictationStreamsDefault = 6 * dictationSlotsDefault;
const Recogniser = Type.Object({
  modelsDirectory: optionalText(Type.String({ minLength: 1, maxLength: 4096, pattern: '^[^\\0]*$' }), {
    env: 'VOXGATE_LOCAL_MODELS',
    accepts: 'the path of a folder with one folder for each model',
    description:
      'Speech models of your own: each folder with a `model.json` becomes `local/<folder>`. See [Local models](../guides/local-models.md).',
  }),
  workers: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: workersDefault,
    defaultText: 'one less than the cores, at least 1',
    env: 'VOXGATE_RECOGNISER_WORKERS',
    description: 'Threads of the embedded recogniser for grammars.',
  }),
  streamsMax: integer(
    'VOXGATE_RECOGNISER_STREAMS_MAX',
    1,
    100_000,
    200,
    'Concurrent streams of the embedded recogniser with grammars.',
  ),
  streamsPerOrganisationMax: integer(
    'VOXGATE_RECOGNISER_STREAMS_PER_ORGANISATION_MAX',
    1,
    100_000,
    150,
    'The same limit for one organisation; never more than three quarters of all.',
  ),
  cpuSecondsPerMinutePerOrganisationMax: Type.Integer({
    minimum: 1,
    maximum: 3_840,
    default: 30 * workersDefault,
    defaultText: '30 for each of the threads that there are by default',
    env: 'VOXGATE_RECOGNISER_CPU_SECONDS_PER_MINUTE_PER_ORGANISATION_MAX',
    description:
      'CPU time of these threads that one organisation may use per minute. Beyond it, audio ahead of real time is slowed to the pace of speech.',
  }),
  queueBytesMax: integer(
    'VOXGATE_RECOGNISER_QUEUE_BYTES_MAX',
    64 * KIB,
    256 * MIB,
    2 * MIB,
    'Audio of one stream waiting for its thread.',
  ),
  dictationSlots: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: dictationSlotsDefault,
    defaultText: 'the cores, at least 2',
    env: 'VOXGATE_DICTATION_SLOTS',
    description: 'Utterances that a speech model of the embedded recogniser decodes at a time; each takes a core.',
  }),
  dictationStreamsMax: Type.Integer({
    minimum: 1,
    maximum: 48,
    default: Math.min(48, dictationStreamsDefault),
    defaultText: '6 for each core, 48 at most',
    env: 'VOXGATE_DICTATION_STREAMS_MAX',
    description: 'Concurrent streams of one speech model of the embedded recogniser, live sessions and files together.',
  }),
});

export const ConfigSchema = Type.Object({
  server: Server,
  data: Data,
  backup: Backup,
  cluster: Cluster,
  limits: Limits,
  session: Session,
  upstream: Upstream,
  batch: Batch,
  sources: Sources,
  redaction: Redaction,
  accounts: Accounts,
  recogniser: Recogniser,
  billing: Billing,
  providers: Type.Record(Type.String(), ProviderSettings),
  /** In the file alone: see custom.ts. */
  custom: Type.Array(Type.Unsafe<CustomModel>(Type.Object({}))),
  /** Read from `recogniser.modelsDirectory`: see local-models.ts. */
  localModels: Type.Array(Type.Unsafe<LocalModel>(Type.Object({}))),
  log: Log,
  tracing: Tracing,
});

/** The configuration as the parts of the gateway are handed it. Units are in the names. */
export type Config = Static<typeof ConfigSchema>;
