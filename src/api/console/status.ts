// What the console tells anybody before the login.
import { type Static, Type } from '@sinclair/typebox';

/** What a gateway is set up with: for whoever runs it. */
export const SetUp = Type.Object({
  /** Every provider, and whether the service has what it takes to use it. */
  providers: Type.Array(
    Type.Object({
      name: Type.String(),
      title: Type.String(),
      needs: Type.Union([Type.Literal('key'), Type.Literal('address'), Type.Literal('nothing')]),
      is_usable: Type.Boolean(),
    }),
  ),
  /** Where mails go: to a server, to a page of this machine, or nowhere. */
  mail: Type.Union([Type.Literal('server'), Type.Literal('outbox'), Type.Literal('nowhere')]),
  /** Who speaks TLS: this process, a proxy in front of it, or nobody. */
  tls: Type.Union([Type.Literal('here'), Type.Literal('proxy'), Type.Literal('nobody')]),
});
export type SetUp = Static<typeof SetUp>;

export const ConsoleStatus = Type.Object({
  version: Type.String(),
  /** No while it drains: it takes nothing new then. */
  ready: Type.Boolean(),
  /** Whether an account can be made: mails reach people, or wait on this machine. */
  sign_up: Type.Boolean(),
  /** Where mails wait to be read; only on a gateway of one's own machine without a mail server. */
  outbox: Type.Optional(Type.String()),
  /** Only where gateway and reader are alone on one machine. */
  set_up: Type.Optional(SetUp),
});
export type ConsoleStatus = Static<typeof ConsoleStatus>;
