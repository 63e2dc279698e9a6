// `voxgate keys …`: API keys, on the data directory of this machine; a running gateway hears of a revocation at once.
import { type ApiKey, type CreatedKey, type KeySettings, SCOPES } from '../accounts/keys/calls.ts';
import { checkedSettings } from '../accounts/keys/settings.ts';
import { LATENCIES } from '../api/bounds.ts';
import { eachKeyLimit, KEY_LIMITS, type KeyLimitFlag } from '../api/console/key-limits.ts';
import { REDACTION_CLASSES } from '../api/redaction.ts';
import { ownerOf } from '../api/slug.ts';
import type { Store } from '../node/store/store.ts';
import { aliasChange, aliasText, knownCeiling, knownSlugs, knownValue } from './shared/aliases.ts';
import { action, actionsCommand, WrongInput } from './shared/command.ts';
import { INIT, operator, requireOrganisation, withStore } from './shared/operator.ts';
import { CommandError, print, printTable, tell } from './shared/output.ts';
import { replacementsValue } from './shared/replacements.ts';
import { tagsValue } from './shared/tags.ts';
import {
  ceilingValue,
  choiceValue,
  countValue,
  durationValue,
  listValue,
  orNone,
  outwardJson,
  regionValue,
  retentionValue,
  timeValue,
  usdValue,
} from './shared/values.ts';

const GRACE_MS_MAX = 72 * 3_600_000;
const GRACE = '24h';

const LIMIT_LINES = Object.values(KEY_LIMITS).map(({ flag }, index) =>
  index === 0 ? `  ${`--${flag} N`.padEnd(25)}limits of the key` : `  --${flag} N`,
);

const usage = `Usage: voxgate keys create [--org ORG_ID] [--init] [SETTINGS]
       voxgate keys list [--org ORG_ID] [--json]
       voxgate keys change KEY_ID SETTINGS
       voxgate keys alias KEY_ID NAME MODELS|none
       voxgate keys roll KEY_ID [--grace 24h]
       voxgate keys revoke KEY_ID

With VOXGATE_NATS, asks the node that owns the accounts, from any machine with
the variables of the nodes. Without, works on the data directory of
VOXGATE_DATA_DIRECTORY (./data when absent), also while a gateway uses it. A
running gateway applies changes within 30 seconds.

  create  creates a key and prints it once. Without --org it belongs
          to the first organisation. --init creates the database if there is
          none
  list    lists keys, without the secrets
  change  changes the settings that you name, and no others; none removes a
          limit
  alias   defines a name that requests with the key may send as model: a slug
          and its fallbacks, separated by commas, or a JSON array. none removes
          it. It comes before an alias of the organisation; keys list --json
          shows all
  roll    creates a new key with the same settings; the old one works for the
          time of --grace: 0 to 72h, 24h when absent
  revoke  ends a key and every client token that it minted

Settings:
  --name NAME              1 to 100 characters
  --scope SCOPE            listen (live), transcribe (files), tokens (client
                           tokens), tokens_may_upload (files with client
                           tokens), webhooks (managing webhooks); the first
                           three when absent
  --model SLUG             models that it may use, such as deepgram/nova-3 or
                           deepgram/*; all when absent
  --origin URL             pages that may use its tokens, such as
                           https://app.example.com; all when absent
  --expires TIME           a day (its start in UTC) or a time such as
                           2026-12-31T18:00:00Z
  --region REGION          where providers may process audio, such as eu;
                           anywhere when absent
  --retention none         only providers that keep nothing; all when absent
  --redact CLASS           what the gateway redacts in all transcripts: card,
                           iban, phone, email, national_id, date_of_birth, and
                           with a service name, address; only the classes of
                           the request when absent
  --replace FROM:TO        a replacement rule for all transcripts, such as
                           'vox gate:Voxgate', or a JSON object with from, to,
                           match and language. Repeat it for several rules.
                           All former rules are replaced
  --tag KEY:VALUE          up to ten tags for all usage of the key, such as
                           customer:acme. A request cannot change them
  --latency WORD           for live sessions that do not choose one: low,
                           balanced or throughput; the gateway's setting when
                           absent
${LIMIT_LINES.join('\n')}
  --daily-spend USD
  --spend-ceiling USD/PERIOD
                           the most in an hour, day or month (UTC), such as
                           100/day or deepgram:20/month. A reached ceiling
                           refuses requests; 100/day:only_up_to=0.005 leaves
                           models up to 0.005 USD a minute

--scope, --model, --origin, --region, --redact, --tag and --spend-ceiling take
several values, separated by commas, and may be repeated.`;

const SETTINGS = {
  name: { type: 'string' },
  scope: { type: 'string', multiple: true },
  model: { type: 'string', multiple: true },
  origin: { type: 'string', multiple: true },
  expires: { type: 'string' },
  region: { type: 'string', multiple: true },
  retention: { type: 'string' },
  redact: { type: 'string', multiple: true },
  replace: { type: 'string', multiple: true },
  latency: { type: 'string' },
  tag: { type: 'string', multiple: true },
  ...eachKeyLimit('flag', () => ({ type: 'string' }) as const),
  'daily-spend': { type: 'string' },
  'spend-ceiling': { type: 'string', multiple: true },
} as const;

type SettingValues = {
  [Name in keyof typeof SETTINGS]?: (typeof SETTINGS)[Name] extends { multiple: true } ? string[] : string;
};

export const keys = actionsCommand(usage, {
  create: action({
    operands: [],
    options: { org: { type: 'string' }, ...INIT.option, ...SETTINGS },
    async run(_, { org, init, ...values }) {
      // Before anything is made: a key that cannot be had leaves nothing behind.
      const settings = checkedSettings(settingsOf(values), Date.now());
      showOnce(await withStore(INIT.at(init), (store) => create(store, org, settings)));
    },
  }),
  list: action({
    operands: [],
    options: { org: { type: 'string' }, json: { type: 'boolean' } },
    async run(_, { org, json = false }) {
      const found = await withStore({ make: false, reads: true }, async (store) => {
        if (org !== undefined) await requireOrganisation(store, org);
        return store.listKeys(org);
      });
      if (json) print(outwardJson(found, 2));
      else printTable([['ID', 'NAME', 'KEY', 'ORGANISATION', 'CREATED', 'LAST USED', 'STATE'], ...found.map(row)]);
    },
  }),
  change: action({
    operands: ['KEY_ID'],
    options: SETTINGS,
    async run([keyId = ''], values) {
      const settings = settingsOf(values);
      if (Object.keys(settings).length === 0) throw new WrongInput('name at least one setting.');
      const changed = await withKey(keyId, (store, { organisationId }) =>
        store.changeKey(organisationId, keyId, settings, operator()),
      );
      print(`Changed ${changed.id}.`);
    },
  }),
  alias: action({
    operands: ['KEY_ID', 'NAME', 'MODELS|none'],
    options: {},
    async run([keyId = '', name = '', text = '']) {
      const change = aliasChange(name, text);
      const changed = await withKey(keyId, (store, { organisationId, aliases }) =>
        store.changeKey(organisationId, keyId, { aliases: change(aliases) }, operator()),
      );
      print(`${changed.id} ${aliasText(name, changed.aliases)}.`);
    },
  }),
  roll: action({
    operands: ['KEY_ID'],
    options: { grace: { type: 'string' } },
    async run([keyId = ''], { grace = GRACE }) {
      const graceMs = durationValue('--grace', grace, GRACE_MS_MAX);
      const rolled = await withKey(keyId, async (store, { organisationId }) => {
        const done = await store.rollKey(organisationId, keyId, graceMs, operator());
        if (done === undefined) throw new CommandError(`${keyId} is not in use any more; only a key in use is rolled.`);
        return done;
      });
      tell(`${keyId} is ${stateOf(rolled.old)}.`);
      showOnce(rolled);
    },
  }),
  revoke: action({
    operands: ['KEY_ID'],
    options: {},
    async run([keyId = '']) {
      const key = await withKey(keyId, (store) => store.revokeKey(null, keyId, operator()));
      print(`${key.id} is ${stateOf(key)}.`);
    },
  }),
});

/** The first key of an empty directory is made with its organisation; it gets the settings like any other. */
async function create(store: Store, org: string | undefined, settings: Partial<KeySettings>): Promise<CreatedKey> {
  if (org !== undefined) return store.createKey(org, settings, operator());
  const first = await store.bootstrap();
  if (first !== undefined) {
    const { id, organisationId } = first.key;
    const key = await store.changeKey(organisationId, id, settings, operator());
    return { key: key ?? first.key, secret: first.secret };
  }
  const [organisation] = await store.listOrganisations();
  return store.createKey(organisation!.id, settings, operator());
}

/** Does something with a key that exists; what is undefined then is the key that is gone. */
async function withKey<Result>(
  keyId: string,
  work: (store: Store, key: ApiKey) => Promise<Result | undefined>,
): Promise<Result> {
  return withStore({ make: false }, async (store) => {
    const key = await store.findKey(null, keyId);
    const result = key && (await work(store, key));
    if (result === undefined) throw new CommandError(`there is no key ${keyId}; voxgate keys list shows them.`);
    return result;
  });
}

function showOnce({ key, secret }: CreatedKey): void {
  tell(`Key ${key.id} of ${key.organisationId}. It is shown only this once:`);
  print(secret);
}

/** Only what was given: what is absent stays as it is. */
function settingsOf(values: SettingValues): Partial<KeySettings> {
  const { name, scope, model, origin, expires, region, retention, redact, replace, latency, tag } = values;
  const count = (option: KeyLimitFlag) => {
    const text = values[option];
    return text === undefined ? undefined : orNone(text, (digits) => countValue(`--${option}`, digits, 1));
  };
  const spend = values['daily-spend'];
  const ceilings = values['spend-ceiling'];
  const settings = {
    name,
    scopes: scope && listValue('--scope', scope).map((word) => choiceValue('--scope', word, SCOPES)),
    models: model && listOrNone('--model', model, knownModel),
    origins: origin && listOrNone('--origin', origin),
    expiresAt: expires && orNone(expires, (text) => timeValue('--expires', text)),
    regions: region && listOrNone('--region', region, regionValue),
    retention: retention && retentionValue(retention),
    redact: redact && listOrNone('--redact', redact, (word) => choiceValue('--redact', word, REDACTION_CLASSES)),
    replace: replace && replacementsValue('--replace', replace),
    latency: latency && orNone(latency, (word) => choiceValue('--latency', word, LATENCIES)),
    tags: tag && tagsValue('--tag', tag),
    ...eachKeyLimit('name', ({ flag }) => count(flag)),
    spendCeilings:
      ceilings &&
      listOrNone('--spend-ceiling', ceilings, (text) => knownCeiling(ceilingValue('--spend-ceiling', text))),
    dailySpendMicroUsdMax: spend === undefined ? undefined : orNone(spend, (text) => usdValue('--daily-spend', text)),
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

function listOrNone<Item = string>(
  name: string,
  texts: readonly string[],
  read: (text: string) => Item = (text) => text as Item,
): Item[] | null {
  if (texts.length === 1) return orNone(texts[0] as string, (text) => listValue(name, [text]).map(read));
  return listValue(name, texts).map(read);
}

/** A slug or `<provider>/*` that this gateway has: a mistyped one would shut the key out. */
function knownModel(pattern: string): string {
  const slugs = knownSlugs();
  return knownValue(pattern, [...new Set(slugs.map((slug) => `${ownerOf(slug)}/*`)), ...slugs]);
}

const row = (key: ApiKey): string[] => [
  key.id,
  key.name,
  key.display,
  key.organisationId,
  key.createdAt,
  key.lastUsedAt ?? '-',
  stateOf(key),
];

function stateOf({ revokedAt, graceUntil, expiresAt, suspended }: ApiKey): string {
  const now = new Date().toISOString();
  if (revokedAt !== null) return `revoked since ${revokedAt}`;
  if (expiresAt !== null && expiresAt <= now) return `expired since ${expiresAt}`;
  if (graceUntil !== null)
    return graceUntil <= now ? `rolled, ended ${graceUntil}` : `rolled, works until ${graceUntil}`;
  return suspended ? 'suspended' : 'in use';
}
