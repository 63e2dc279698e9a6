// What the console's own HTTP API takes and answers, below `/console/api/`. Members are closed: one that is not listed here is
// refused. Money is decimal strings in USD, times are ISO 8601 UTC.
import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox';
import { type Aliases, Latency } from '../listen.ts';
import { NamedRegion } from '../processing.ts';
import { REDACTION_CLASSES, type RedactionClass } from '../redaction.ts';
import type { Replacement } from '../replacements.ts';
import { SpendCeilings } from '../spend-ceiling-schema.ts';
import type { SpendCeiling } from '../spend-ceilings.ts';
import type { Tags } from '../tags.ts';
import { eachKeyLimit, type KeyLimitMember } from './key-limits.ts';

const closed = <Properties extends TProperties>(properties: Properties): TObject<Properties> =>
  Type.Object(properties, { additionalProperties: false });

// Lengths are looked at where passwords and addresses are understood; these bounds only keep nonsense out.
const Email = Type.String({ minLength: 3, maxLength: 320 });
const Password = Type.String({ minLength: 1, maxLength: 512 });

export const SignUpBody = closed({
  email: Email,
  password: Password,
  /** Name of the organisation; the e-mail address when absent. */
  organisation: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
});
export type SignUpBody = Static<typeof SignUpBody>;

export const LoginBody = closed({ email: Email, password: Password });
export const ConfirmBody = closed({ password: Password });
export const PasswordBody = closed({ current_password: Password, new_password: Password });
export const EmailBody = closed({ email: Email });
export const PasswordResetBody = closed({ token: Type.String({ minLength: 1, maxLength: 100 }), password: Password });
export const OrganisationBody = closed({ id: Type.String({ minLength: 1, maxLength: 100 }) });
export const EmptyBody = closed({});

const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);
const Limit = orNull(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }));
const List = orNull(Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { minItems: 1, maxItems: 100 }));

const RedactionClassName = Type.Unsafe<RedactionClass>(Type.Union(REDACTION_CLASSES.map((each) => Type.Literal(each))));

/** Null: the key has no limit of its own. What is absent stays as it is, and is without a limit in a new key. */
export const KeyBody = closed({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  expires_at: Type.Optional(orNull(Type.String({ maxLength: 30 }))),
  scopes: Type.Optional(
    Type.Array(
      Type.Union([
        Type.Literal('listen'),
        Type.Literal('transcribe'),
        Type.Literal('tokens'),
        Type.Literal('tokens_may_upload'),
        Type.Literal('webhooks'),
      ]),
      { minItems: 1, maxItems: 5 },
    ),
  ),
  models: Type.Optional(List),
  origins: Type.Optional(List),
  regions: Type.Optional(orNull(Type.Array(NamedRegion, { minItems: 1, maxItems: 100 }))),
  retention: Type.Optional(orNull(Type.Literal('none'))),
  redact: Type.Optional(orNull(Type.Array(RedactionClassName, { minItems: 1, maxItems: 100 }))),
  latency: Type.Optional(orNull(Latency)),
  /** All of them. Looked at where they are understood, which says of which one what is wrong. */
  aliases: Type.Optional(Type.Unsafe<Aliases | null>(Type.Unknown())),
  /** The same. */
  tags: Type.Optional(Type.Unsafe<Tags | null>(Type.Unknown())),
  /** The same. */
  replace: Type.Optional(Type.Unsafe<readonly Replacement[] | null>(Type.Unknown())),
  ...eachKeyLimit('member', () => Type.Optional(Limit)),
  daily_spend_usd_max: Type.Optional(orNull(Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,6})?$', examples: ['12.50'] }))),
  spend_ceilings: Type.Optional(orNull(SpendCeilings)),
});
export type KeyBody = Static<typeof KeyBody>;

/** How long the old key continues working. */
export const ROLL_GRACE_SECONDS = { max: 72 * 3600, default: 24 * 3600 } as const;

export const RollBody = closed({
  grace_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: ROLL_GRACE_SECONDS.max })),
});

/** Each may do what those after it may. */
export const MEMBER_ROLES = ['owner', 'admin', 'developer', 'read_only'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

export interface PersonView {
  id: string;
  email: string;
  email_verified: boolean;
  /** The one that this session works in. `show_transcripts`: members see the text of finals while they watch a live session, and of jobs. */
  organisation: {
    id: string;
    name: string;
    show_transcripts: boolean;
    spend_ceilings: readonly SpendCeiling[] | null;
  };
  /** In that organisation. */
  role: MemberRole;
  /** Whether that organisation is the one of whoever runs the gateway. */
  operator: boolean;
  /** All that the person is a member of. */
  organisations: readonly { id: string; name: string; role: MemberRole }[];
  created_at: string;
  /** Whether the password was given lately enough for what asks for it. */
  confirmed: boolean;
}

export interface ConsoleSessionView {
  id: string;
  current: boolean;
  address: string;
  user_agent: string;
  created_at: string;
  seen_at: string;
}

export interface KeyView extends Readonly<Record<KeyLimitMember, number | null>> {
  id: string;
  name: string;
  /** The first 11 characters and the last 4. */
  display: string;
  status: 'active' | 'rolled' | 'expired' | 'revoked';
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  grace_until: string | null;
  rolled_to: string | null;
  last_used_at: string | null;
  /** Who minted or rolled it here, and the address as long as there is the account; null for the command line's, and older ones. */
  made_by: { id: string; email: string | null } | null;
  scopes: readonly string[];
  models: readonly string[] | null;
  origins: readonly string[] | null;
  regions: readonly NamedRegion[] | null;
  retention: 'none' | null;
  redact: readonly RedactionClass[] | null;
  replace: readonly Replacement[] | null;
  latency: Latency | null;
  aliases: Aliases | null;
  tags: Tags | null;
  daily_spend_usd_max: string | null;
  spend_ceilings: readonly SpendCeiling[] | null;
}

export interface AuditView {
  number: number;
  at: string;
  by: { type: string; id: string; address: string | null };
  action: string;
  target: string | null;
  detail: Readonly<Record<string, unknown>>;
}

/** How many actors are in each state now, over all nodes. */
export interface MachinesView {
  at: string;
  /** Nodes that have answered, by their incarnation, and those that have not. */
  nodes: string[];
  silent: string[];
  /** By the id of the state as it is drawn, `session.live.link.streaming`; under the id of a machine, all of its actors. */
  states: Record<string, number>;
}

/** The nodes of a gateway, and the live sessions of all organisations on them. */
export interface GatewayView {
  at: string;
  nodes: GatewayNodeView[];
  /** Live sessions that are as wanted, on the nodes that have answered. */
  matched: number;
  /** The newest of them. */
  data: GatewaySessionView[];
}

export interface GatewayNodeView {
  /** The name that its operator gave it. */
  id: string;
  /** Its incarnation. */
  node: string;
  /** `silent`: it has not said in time which sessions it has. */
  state: 'serving' | 'draining' | 'silent';
  roles: readonly string[];
  sessions: number;
  /** The most that it accepts; null without a limit. */
  sessions_max: number | null;
  /** Connections to providers. */
  legs: number;
}

export interface GatewaySessionView {
  id: string;
  /** The name is null where it cannot be told. */
  organisation: { id: string; name: string | null };
  /** The slug that was requested. */
  model: string;
  /** The model of its latest connection; null before the first. */
  heard_by: string | null;
  state: string;
  /** The id of the node. */
  node: string;
  opened_at: string;
}

const Role = Type.Union(MEMBER_ROLES.map((role) => Type.Literal(role)));

export const RoleBody = closed({ role: Role });
export type RoleBody = Static<typeof RoleBody>;
export const InvitationBody = closed({ email: Email, role: Role });
export type InvitationBody = Static<typeof InvitationBody>;
export const NewOrganisationBody = closed({ name: Type.String({ minLength: 1, maxLength: 100 }) });

/** Settings of the organisation that the session works in. */
export const OrganisationSettingsBody = closed({
  show_transcripts: Type.Optional(Type.Boolean()),
  /** All of them. */
  spend_ceilings: Type.Optional(orNull(SpendCeilings)),
});

export interface MemberView {
  id: string;
  email: string;
  role: MemberRole;
  /** Whether it is who asks. */
  you: boolean;
  /** Null where it was not written down yet. */
  joined_at: string | null;
  last_login_at: string | null;
}

export interface InvitationView {
  id: string;
  email: string;
  role: MemberRole;
  /** `locked`: its link was tried with too many wrong passwords. */
  state: 'pending' | 'expired' | 'locked';
  /** Address of who invites; null for the command line. */
  invited_by: string | null;
  sent_at: string;
  expires_at: string;
}

export interface InvitedAnswer {
  invitation: InvitationView;
  /** Path of the link to hand over, told only now; null where it was mailed. */
  link: string | null;
}

/** `fields` has the members of the provider's form; what is wrong with them is said by name, without what they hold. */
export const ProviderKeyBody = closed({
  provider: Type.String({ maxLength: 50 }),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
      examples: ['Production'],
    }),
  ),
  fields: Type.Record(Type.String(), Type.Unknown()),
});
export type ProviderKeyBody = Static<typeof ProviderKeyBody>;

/** A customer's own credential at a provider: no answer shows a secret. */
export const ProviderKeyView = Type.Object({
  id: Type.String(),
  provider: Type.String(),
  name: Type.String(),
  /** The last characters of the secret; empty for a short one. */
  last_four: Type.String(),
  /** Members that are no secret, such as the region; null for a key that was saved before they were noted. */
  fields: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]),
  /** Sessions are refused on a key that is `disabled` or `rejected`. */
  state: Type.Union([
    Type.Literal('untested'),
    Type.Literal('checking'),
    Type.Literal('usable'),
    Type.Literal('failing'),
    Type.Literal('disabled'),
    Type.Literal('rejected'),
  ]),
  created_at: Type.String(),
  tested_at: Type.Union([Type.String(), Type.Null()]),
  used_at: Type.Union([Type.String(), Type.Null()]),
});
export type ProviderKeyView = Static<typeof ProviderKeyView>;

/** A provider that takes keys, and the JSON Schema of its credential: secret members carry `secret: true`. */
export const KeyedProviderView = Type.Object({ name: Type.String(), title: Type.String(), fields: Type.Unknown() });
export type KeyedProviderView = Static<typeof KeyedProviderView>;

export const ProviderKeyList = Type.Object({
  data: Type.Array(ProviderKeyView),
  providers: Type.Array(KeyedProviderView),
});
export type ProviderKeyList = Static<typeof ProviderKeyList>;

/** `warning`: what the test could not find out, or null. */
export const ProviderKeyAnswer = Type.Object({
  key: ProviderKeyView,
  warning: Type.Union([Type.String(), Type.Null()]),
});
export type ProviderKeyAnswer = Static<typeof ProviderKeyAnswer>;

/** A failure that the playground injects. `drop`: the connection is reset; `stall`: no more messages; `error`: an error of the provider's. */
export const BreakBody = closed({
  fault: Type.Union([Type.Literal('drop'), Type.Literal('stall'), Type.Literal('error')]),
});
export type BreakBody = Static<typeof BreakBody>;
