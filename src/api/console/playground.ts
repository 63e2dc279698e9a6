// What the playground asks for beside its token.
import { type Static, Type } from '@sinclair/typebox';

/** `drop`: the connection is reset; `stall`: nothing is said any more; `error`: the provider fails in its own words. */
export const BreakBody = Type.Object(
  { fault: Type.Union([Type.Literal('drop'), Type.Literal('stall'), Type.Literal('error')]) },
  { additionalProperties: false },
);
export type BreakBody = Static<typeof BreakBody>;
