// What the console's own HTTP API takes and answers, below `/console/api/`. Members are closed: one that is not listed here is
// refused. Money is decimal strings in USD, times are ISO 8601 UTC.

import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox';
import { type Aliases, Latency } from '../listen.ts';
import { NamedRegion } from '../processing.ts';

export const closed = <Properties extends TProperties>(properties: Properties): TObject<Properties> =>
  Type.Object(properties, { additionalProperties: false });

// Lengths are looked at where passwords and addresses are understood; these bounds only keep nonsense out.
export const Email = Type.String({ minLength: 3, maxLength: 320 });
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

/** Null is no limit of the key's own. What is absent stays as it is, and is without a limit in a new key. */
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
      ]),
      { minItems: 1, maxItems: 4 },
    ),
  ),
  models: Type.Optional(List),
  origins: Type.Optional(List),
  regions: Type.Optional(orNull(Type.Array(NamedRegion, { minItems: 1, maxItems: 100 }))),
  retention: Type.Optional(orNull(Type.Literal('none'))),
  latency: Type.Optional(orNull(Latency)),
  /** All of them. Looked at where they are understood, which says of which one what is wrong. */
  aliases: Type.Optional(Type.Unsafe<Aliases | null>(Type.Unknown())),
  requests_per_minute_max: Type.Optional(Limit),
  sessions_max: Type.Optional(Limit),
  tokens_per_minute_max: Type.Optional(Limit),
  daily_spend_usd_max: Type.Optional(orNull(Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,6})?$', examples: ['12.50'] }))),
});
export type KeyBody = Static<typeof KeyBody>;

/** How long the old key goes on working. */
export const ROLL_GRACE_SECONDS = { max: 72 * 3600, default: 24 * 3600 } as const;

export const RollBody = closed({
  grace_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: ROLL_GRACE_SECONDS.max })),
});

export type MemberRole = 'owner' | 'admin' | 'developer' | 'read_only';

export interface PersonView {
  id: string;
  email: string;
  email_verified: boolean;
  /** The one that this session works in. `show_transcripts`: members see the text of finals while they watch a live session. */
  organisation: { id: string; name: string; show_transcripts: boolean };
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

export interface KeyView {
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
  latency: Latency | null;
  aliases: Aliases | null;
  requests_per_minute_max: number | null;
  sessions_max: number | null;
  tokens_per_minute_max: number | null;
  daily_spend_usd_max: string | null;
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
  /** The slug that was asked for. */
  model: string;
  /** The model of its latest connection; null before the first. */
  heard_by: string | null;
  state: string;
  /** The id of the node. */
  node: string;
  opened_at: string;
}
