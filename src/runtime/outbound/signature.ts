// Signatures of outgoing posts, as Standard Webhooks has them: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
export const SECRET_BYTES_MIN = 24;
export const SECRET_BYTES_MAX = 64;

export const newWebhookSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

/** The specification's: the base64 of 24 to 64 bytes after the prefix. */
export function isWebhookSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]{1,88})={0,2}$/.exec(text) ?? [];
  const { length } = Buffer.from(base64, 'base64');
  return base64.length % 4 !== 1 && length >= SECRET_BYTES_MIN && length <= SECRET_BYTES_MAX;
}

/** `whsec_` and base64, as the standard has it; of any other text its bytes. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret);

const signatureOf = (secret: string, id: string, timestamp: string, body: string): string =>
  `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`;

/**
 * The headers of a post. The receiver accepts it if one of the signatures is right, so that a secret can be replaced.
 *
 * @param secrets none for a receiver that checks nothing
 */
export function webhookHeaders(secrets: readonly string[], id: string, at: Date, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = secrets.map((secret) => signatureOf(secret, id, timestamp, body)).join(' ');
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  return signature === '' ? headers : { ...headers, 'webhook-signature': signature };
}
