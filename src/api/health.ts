// `/healthz` and `/readyz`: what they answer.
import { Type } from '@sinclair/typebox';

export const HealthAnswer = Type.Object({ status: Type.Literal('ok') });

export const ReadyQuery = Type.Object({
  paid: Type.Optional(
    Type.Boolean({ description: '`true`: answers 503 as well while customers with limits cannot begin paid work.' }),
  ),
  standby: Type.Optional(
    Type.Boolean({
      description:
        '`true`: a standby of the accounts answers 200 as well, once it could take over. For rolling restarts of replicas.',
    }),
  ),
});

/** 503 while the node drains or is a standby; with `?paid=true` also while it cannot begin paid work. */
export const ReadyAnswer = Type.Object({
  status: Type.Union([Type.Literal('ready'), Type.Literal('draining'), Type.Literal('standby')]),
  new_paid_sessions: Type.Optional(
    Type.Boolean({
      description:
        'Whether the ledger answers, so that customers with a credit or spending limit can begin paid work. On nodes that serve clients.',
    }),
  ),
});
