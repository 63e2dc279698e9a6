// What the console tells anybody before the login.
import { type Static, Type } from '@sinclair/typebox';

export const ConsoleStatus = Type.Object({
  version: Type.String(),
  /** Whether an account can be made: mails reach people, or wait on this machine. */
  sign_up: Type.Boolean(),
  /** Where mails wait to be read; only on a gateway of one's own machine without a mail server. */
  outbox: Type.Optional(Type.String()),
});
export type ConsoleStatus = Static<typeof ConsoleStatus>;
