// `voxgate orgs …`: organisations, their credit, limits and members, on the data directory of this machine.
import { loadSecret } from '../accounts/auth/secret.ts';
import type { Organisation } from '../accounts/keys/calls.ts';
import { checkedName } from '../accounts/keys/settings.ts';
import { parseEmail } from '../accounts/people/addresses.ts';
import { newToken, TokenSeal, tokenHash } from '../accounts/people/mail-tokens.ts';
import { LINK_PATHS, linkTo } from '../accounts/people/mailer.ts';
import { apiErrorOfTeam, isRole, type Member, ROLES, type Role, type TeamRefusal } from '../accounts/team/calls.ts';
import { REDACTION_CLASSES } from '../api/redaction.ts';
import { type DataResidencyRule, FREE_RULE } from '../api/residency-rule.ts';
import { textOfCeiling } from '../api/spend-ceilings.ts';
import { usdOf } from '../config/prices/price.ts';
import type { Balance } from '../money/store/calls.ts';
import type { Store } from '../node/store/store.ts';
import { uuidv7 } from '../runtime/uuid.ts';
import { aliasChange, aliasText, knownCeiling } from './shared/aliases.ts';
import { action, actionsCommand, WrongInput } from './shared/command.ts';
import { INIT, operator, requireOrganisation, withStore } from './shared/operator.ts';
import { print, printTable, tell } from './shared/output.ts';
import { loadSettings, publicUrlOf } from './shared/settings.ts';
import {
  ceilingValue,
  choiceValue,
  listValue,
  orNone,
  outwardJson,
  regionValue,
  retentionValue,
  signedUsdValue,
  usdValue,
} from './shared/values.ts';

const usage = `Usage: voxgate orgs create NAME [--credit-limit USD|none] [--init]
       voxgate orgs list [--json]
       voxgate orgs credit ORG_ID AMOUNT [--note TEXT] [--key UNIQUE]
       voxgate orgs limit ORG_ID USD|none
       voxgate orgs ceiling ORG_ID CEILINGS|none
       voxgate orgs place ORG_ID [--region REGION|none] [--retention none|any]
       voxgate orgs redact ORG_ID CLASSES|none
       voxgate orgs alias ORG_ID NAME MODELS|none
       voxgate orgs invite ORG_ID EMAIL [--role ROLE]
       voxgate orgs members ORG_ID [--json]
       voxgate orgs role ORG_ID EMAIL ROLE
       voxgate orgs remove ORG_ID EMAIL
       voxgate orgs suspend|reinstate ORG_ID

With VOXGATE_NATS, asks the node that owns the accounts, from any machine with
the variables of the nodes. Without, works on the data directory of
VOXGATE_DATA_DIRECTORY (./data when absent), also while a gateway uses it. A
running gateway applies changes within 30 seconds.

  create     creates an organisation and prints its id; it is prepaid without
             --credit-limit. --init creates the database if there is none
  list       lists organisations with balance and limit
  credit     adds an amount in USD, such as 12.50; a negative amount takes it
             back. A second call with the same --key adds nothing
  limit      how far the balance may fall below zero: 0 for prepaid, none for
             no limit
  ceiling    the most that all its keys may spend in an hour, day or month
             (UTC), over all providers or at one: 100/day,deepgram:20/month.
             100/day:only_up_to=0.005 leaves models up to 0.005 USD a minute
             once it is reached. Replaces all earlier ones; none removes them
  place      where providers may process audio, such as eu, and whether they may
             keep any of it; requests and keys can only be stricter
  redact     what the gateway redacts in all transcripts, separated by commas:
             card, iban, phone, email, national_id, date_of_birth, and with a
             service name, address. Requests and keys can only add classes
  alias      defines a name that requests may send as model: a slug and its
             fallbacks, separated by commas, or a JSON array. none removes it.
             Aliases of a key come first; orgs list --json shows all
  invite     invites a person, as owner without --role: by mail if
             VOXGATE_SMTP_URL is set, else prints the link. The link works
             once, within seven days
  members    lists members with their roles, and open invitations
  role       changes the role of a member
  remove     removes a member and ends their console sessions in the
             organisation; the last owner cannot be removed
  suspend    refuses all requests of the organisation until it is reinstated
  reinstate  ends the suspension

ROLE is owner, admin, developer or read_only.`;

export const orgs = actionsCommand(usage, {
  create: action({
    operands: ['NAME'],
    options: { 'credit-limit': { type: 'string' }, ...INIT.option },
    async run([name = ''], values) {
      const limit = limitValue('--credit-limit', values['credit-limit'] ?? '0');
      const checked = checkedName(name, 'organisation');
      const made = await withStore(INIT.at(values.init), (store) =>
        store.createOrganisation(checked, limit, operator()),
      );
      tell(`${JSON.stringify(made.name)} ${limitText(made.creditLimitMicroUsd)}:`);
      print(made.id);
    },
  }),
  list: action({
    operands: [],
    options: { json: { type: 'boolean' } },
    async run(_, { json = false }) {
      const found = await withStore({ make: false, reads: true }, async (store) => {
        const rows: (Organisation & Balance)[] = [];
        for (const each of await store.listOrganisations()) {
          rows.push({ ...each, ...(await store.balanceOf(each.id)) });
        }
        return rows;
      });
      if (json) print(outwardJson(found, 2));
      else printTable([['ID', 'NAME', 'BALANCE', 'HELD', 'CREDIT LIMIT', 'SUSPENDED'], ...found.map(row)]);
    },
  }),
  credit: action({
    operands: ['ORG_ID', 'AMOUNT'],
    options: { note: { type: 'string' }, key: { type: 'string' } },
    async run([organisationId = '', amount = ''], { note = '', key }) {
      const microUsd = signedUsdValue('AMOUNT', amount);
      const kind = microUsd > 0n ? 'top_up' : 'adjustment';
      const uniqueKey = key ?? `operator:${uuidv7(Date.now())}`;
      const { added, balance } = await withStore({ make: false }, async (store) => ({
        added: await store.addCredit({ organisationId, kind, microUsd, uniqueKey, note }, operator()),
        balance: await store.balanceOf(organisationId),
      }));
      if (!added) tell(`There is a credit with the key ${JSON.stringify(uniqueKey)} already; nothing was added.`);
      print(`The balance of ${organisationId} is ${usdOf(balance.balanceMicroUsd)} USD.`);
    },
  }),
  limit: action({
    operands: ['ORG_ID', 'USD|none'],
    options: {},
    async run([organisationId = '', text = '']) {
      const limit = limitValue('the limit', text);
      const changed = await withStore({ make: false }, (store) =>
        store.setCreditLimit(organisationId, limit, operator()),
      );
      print(`${changed.id} ${limitText(changed.creditLimitMicroUsd)}.`);
    },
  }),
  ceiling: action({
    operands: ['ORG_ID', 'CEILINGS|none'],
    options: {},
    async run([organisationId = '', text = '']) {
      const texts = orNone(text, (list) => listValue('the ceilings', [list])) ?? [];
      const ceilings = texts.map((each) => knownCeiling(ceilingValue('a ceiling', each)));
      const changed = await withStore({ make: false }, (store) =>
        store.setSpendCeilings(organisationId, ceilings, operator()),
      );
      const list = changed.spendCeilings?.map(textOfCeiling).join(', ');
      print(`${changed.id} may spend ${list === undefined ? 'without a ceiling' : `at most ${list}`}.`);
    },
  }),
  place: action({
    operands: ['ORG_ID'],
    options: { region: { type: 'string', multiple: true }, retention: { type: 'string' } },
    async run([organisationId = ''], { region, retention }) {
      if (region === undefined && retention === undefined) throw new WrongInput('name --region or --retention.');
      const named = region && orNone(region.join(','), (text) => listValue('--region', [text]).map(regionValue));
      const changed = await withStore({ make: false }, async (store) => {
        const before = (await store.findOrganisation(organisationId)) ?? FREE_RULE;
        const rule = {
          regions: named === undefined ? before.regions : named,
          retention: retention === undefined ? before.retention : retentionValue(retention),
        };
        return store.setPlaceRule(organisationId, rule, operator());
      });
      print(`Audio of ${changed.id} ${placeText(changed)}.`);
    },
  }),
  redact: action({
    operands: ['ORG_ID', 'CLASSES|none'],
    options: {},
    async run([organisationId = '', text = '']) {
      const redact = orNone(text, (list) =>
        listValue('CLASSES', [list]).map((word) => choiceValue('CLASSES', word, REDACTION_CLASSES)),
      );
      const changed = await withStore({ make: false }, (store) =>
        store.setRedactionRule(organisationId, { redact }, operator()),
      );
      print(`The gateway redacts ${changed.redact?.join(', ') ?? 'nothing of its own'} for ${changed.id}.`);
    },
  }),
  alias: action({
    operands: ['ORG_ID', 'NAME', 'MODELS|none'],
    options: {},
    async run([organisationId = '', name = '', text = '']) {
      const change = aliasChange(name, text);
      const changed = await withStore({ make: false }, async (store) => {
        const before = await store.findOrganisation(organisationId);
        return store.setAliases(organisationId, change(before?.aliases ?? null), operator());
      });
      print(`${changed.id} ${aliasText(name, changed.aliases)}.`);
    },
  }),
  invite: action({
    operands: ['ORG_ID', 'EMAIL'],
    options: { role: { type: 'string' } },
    async run([organisationId = '', typed = ''], { role: wanted = 'owner' }) {
      const role = roleValue('--role', wanted);
      const invited = parseEmail(typed);
      if (invited === undefined) throw new WrongInput('EMAIL is an address such as ada@example.com.');
      const config = loadSettings();
      const { accounts, data } = config;
      const token = newToken();
      const isMailed = accounts.smtpUrl !== undefined;
      const sealed = isMailed ? { sealed: new TokenSeal(loadSecret(data.secret, data.directory)).seal(token) } : {};
      const hash = tokenHash(token) as Uint8Array;
      const made = await withStore({ make: false }, (store) =>
        store.invite(organisationId, { ...invited, role, hash, ...sealed }, operator()),
      );
      if (typeof made === 'string') throw apiErrorOfTeam(made);
      if (isMailed) print(`${invited.email} is invited by mail, once a gateway runs.`);
      else {
        if (config.accounts.publicUrl === undefined)
          tell(
            'VOXGATE_PUBLIC_URL is not set: the link leads to where the gateway listens, which others may not reach.',
          );
        print(linkTo(publicUrlOf(config), LINK_PATHS.join, token));
      }
      return undefined;
    },
  }),
  members: action({
    operands: ['ORG_ID'],
    options: { json: { type: 'boolean' } },
    async run([organisationId = ''], { json = false }) {
      const { members, invitations } = await withStore({ make: false, reads: true }, async (store) => {
        await requireOrganisation(store, organisationId);
        return {
          members: await store.listMembers(organisationId),
          invitations: await store.listInvitations(organisationId),
        };
      });
      if (json) {
        print(outwardJson({ members, invitations }, 2));
        return;
      }
      const rows = members.map(({ email, role, lastLoginAtMs }) => [email, role, dayOf(lastLoginAtMs)]);
      const invited = invitations.map(({ email, role, state }) => [email, role, `invited, ${state}`]);
      printTable([['EMAIL', 'ROLE', 'LAST LOGIN'], ...rows, ...invited]);
    },
  }),
  role: action({
    operands: ['ORG_ID', 'EMAIL', 'ROLE'],
    options: {},
    async run([organisationId = '', email = '', text = '']) {
      const role = roleValue('ROLE', text);
      await changeMember(organisationId, email, (store, { personId }) =>
        store.changeRole(organisationId, personId, role, operator()),
      );
      print(`${email} is ${role} of ${organisationId}.`);
    },
  }),
  remove: action({
    operands: ['ORG_ID', 'EMAIL'],
    options: {},
    async run([organisationId = '', email = '']) {
      await changeMember(organisationId, email, (store, { personId }) =>
        store.removeMember(organisationId, personId, operator()),
      );
      print(`${email} is no member of ${organisationId} any more.`);
    },
  }),
  suspend: suspension(true),
  reinstate: suspension(false),
});

function suspension(suspended: boolean) {
  return action({
    operands: ['ORG_ID'],
    options: {},
    async run([organisationId = '']) {
      const changed = await withStore({ make: false }, (store) =>
        store.setSuspended(organisationId, suspended, operator()),
      );
      print(`${changed.id} is ${changed.suspendedAt === null ? 'in use' : `suspended since ${changed.suspendedAt}`}.`);
    },
  });
}

const placeText = ({ regions, retention }: DataResidencyRule): string =>
  `is processed in ${regions?.join(' or ') ?? 'any region'}, by providers that ${retention === 'none' ? 'keep nothing' : 'may keep some of it'}`;

const limitValue = (name: string, text: string): bigint | null => orNone(text, (amount) => usdValue(name, amount));

function limitText(microUsd: bigint | null): string {
  if (microUsd === null) return 'has no credit limit';
  return microUsd === 0n ? 'is prepaid' : `may owe up to ${usdOf(microUsd)} USD`;
}

const row = (each: Organisation & Balance): string[] => [
  each.id,
  each.name,
  usdOf(each.balanceMicroUsd),
  usdOf(each.heldMicroUsd),
  each.creditLimitMicroUsd === null ? 'none' : usdOf(each.creditLimitMicroUsd),
  each.suspendedAt ?? '-',
];

function roleValue(name: string, text: string): Role {
  if (isRole(text)) return text;
  throw new WrongInput(`${name} takes one of ${ROLES.join(', ')}.`);
}

async function changeMember(
  organisationId: string,
  email: string,
  change: (store: Store, member: Member) => Promise<TeamRefusal | 'done'>,
): Promise<void> {
  const outcome = await withStore({ make: false }, async (store) => {
    const members = await store.listMembers(organisationId);
    const member = members.find((each) => addressOf(each.email) === addressOf(email));
    return member === undefined ? 'not_found' : change(store, member);
  });
  if (outcome !== 'done') throw apiErrorOfTeam(outcome);
}

const addressOf = (email: string): string | undefined => parseEmail(email)?.address;

const dayOf = (ms: number | null): string => (ms === null ? '-' : new Date(ms).toISOString().slice(0, 10));
