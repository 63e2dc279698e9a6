// `/healthz` and `/readyz`: what they answer.
import { Type } from '@sinclair/typebox';

export const HealthAnswer = Type.Object({ status: Type.Literal('ok') });

/** 503 while the node drains. */
export const ReadyAnswer = Type.Object({ status: Type.Union([Type.Literal('ready'), Type.Literal('draining')]) });
