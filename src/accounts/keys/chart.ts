// The api-key chart on the row of a key: what a roll or a revocation makes of it, and whether it is accepted now.
import { transition } from 'xstate';
import { type ApiKeyDecision, type ApiKeyEvent, apiKeyMachine } from '../../../machines/api-key.ts';
import type { ApiKey } from './calls.ts';

export type { ApiKeyDecision };

/** What of a row the chart reads. */
export type KeyState = Pick<ApiKey, 'expiresAt' | 'graceUntil' | 'revokedAt'>;

export interface KeyOutcome {
  state: 'active' | 'rotated' | 'revoked';
  /** Whether the event did anything. */
  changed: boolean;
  /** Whether every node has to hear of a revocation. */
  published: boolean;
  decision: ApiKeyDecision | null;
}

/** Whether a key that is presented now may be used, and why not. Its scopes and limits are another matter. */
export function judgeKey(key: KeyState & Pick<ApiKey, 'suspended'>, nowMs: number): ApiKeyDecision {
  const { decision } = keyAfter(key, { type: 'key.present', nowMs, suspended: key.suspended });
  return decision ?? 'key_revoked';
}

/** What the chart makes of a key in this state when this happens to it. */
export function keyAfter(key: KeyState, event: ApiKeyEvent): KeyOutcome {
  const value = key.revokedAt !== null ? 'revoked' : key.graceUntil !== null ? 'rotated' : 'active';
  const context = {
    expiresAtMs: millisecondsOf(key.expiresAt),
    graceUntilMs: millisecondsOf(key.graceUntil),
    decision: null,
  };
  const before = apiKeyMachine.resolveState({ value, context });
  const [after, actions] = transition(apiKeyMachine, before, event);
  return {
    state: after.value,
    changed: after.value !== value,
    published: actions.some(({ type }) => type === 'publishRevocation'),
    decision: after.context.decision,
  };
}

/** What cannot be read is taken to be over. */
function millisecondsOf(time: string | null): number | null {
  if (time === null) return null;
  const atMs = Date.parse(time);
  return Number.isNaN(atMs) ? 0 : atMs;
}
