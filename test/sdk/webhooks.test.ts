// Posts of the gateway, verified with the official library of Standard Webhooks.
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { newWebhookSecret, webhookHeaders } from '../../src/runtime/outbound/signature.ts';

/** As much of the library as a receiver needs. */
interface Library {
  Webhook: new (
    secret: string,
  ) => {
    verify(payload: string, headers: Record<string, string>): unknown;
    sign(id: string, timestamp: Date, payload: string): string;
  };
}

const require = createRequire(import.meta.url);
const { Webhook } = require('standardwebhooks') as Library;

const body = JSON.stringify({ type: 'session.ended', timestamp: '2026-11-21T12:00:00.000Z', data: { id: 'ses_ü' } });
const posted = (secrets: readonly string[], at = new Date()) => webhookHeaders(secrets, 'msg_1', at, body);

describe('a post', () => {
  it('is signed as the library signs', () => {
    const secret = newWebhookSecret();
    const at = new Date();
    expect(posted([secret], at)['webhook-signature']).toBe(new Webhook(secret).sign('msg_1', at, body));
  });

  it('is accepted with its secret, and with each of two while they overlap', () => {
    const [former, next] = [newWebhookSecret(), newWebhookSecret()];
    const headers = posted([next, former]);
    for (const secret of [former, next]) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  });

  it('is refused with another secret, another body, or ten minutes later', () => {
    const secret = newWebhookSecret();
    const receiver = new Webhook(secret);
    expect(() => new Webhook(newWebhookSecret()).verify(body, posted([secret]))).toThrow();
    expect(() => receiver.verify(body.replace('ü', 'u'), posted([secret]))).toThrow();
    expect(() => receiver.verify(body, posted([secret], new Date(Date.now() - 600_000)))).toThrow();
  });
});
