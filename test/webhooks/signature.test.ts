// Signatures against an example of the official libraries, which test/sdk/webhooks.test.ts uses themselves.
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isWebhookSecret, newWebhookSecret, webhookHeaders } from '../../src/runtime/outbound/signature.ts';

it('are those of the official libraries’ example', () => {
  const at = new Date(1_614_265_330_000);
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
  expect(webhookHeaders(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], id, at, '{"test": 2432232314}')).toEqual({
    'webhook-id': id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

it('are one for each secret, and none without a secret', () => {
  const at = new Date(0);
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  const { 'webhook-signature': both = '' } = webhookHeaders(secrets, 'msg_1', at, '{}');
  const expected = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    expect(key).toHaveLength(32);
    return `v1,${createHmac('sha256', key).update('msg_1.0.{}').digest('base64')}`;
  });
  expect(both.split(' ')).toEqual(expected);
  expect(webhookHeaders([], 'msg_1', at, '{}')).toEqual({ 'webhook-id': 'msg_1', 'webhook-timestamp': '0' });
});

describe('a secret of a client', () => {
  const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 255).toString('base64')}`;

  it.each([secretOf(24), secretOf(25), secretOf(64), secretOf(25).replace(/=+$/, ''), newWebhookSecret()])(
    'may be %s',
    (secret) => expect(isWebhookSecret(secret)).toBe(true),
  );

  it.each([
    ...['', 'whsec_', 'secret', secretOf(23), secretOf(65), secretOf(32).replace('whsec_', '')],
    ...[`${secretOf(32)} `, `${secretOf(32)}\n`, secretOf(32).replaceAll('/', '_'), `${secretOf(24)}A`, 'whsec_===='],
  ])('is refused as %j', (secret) => expect(isWebhookSecret(secret)).toBe(false));
});
