// Signature version 4 as the service checks it, out of its document and not out of a library: of a query, or of headers.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
import { createHash, createHmac } from 'node:crypto';
import type { SimulatedRequest } from '../../simulation.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

export interface Signed {
  key: string;
  /** Whether it was signed with the secret of the key, which is the key itself here. */
  isRight: boolean;
}

/** Undefined for a request without a signature. */
export function signedBy(request: SimulatedRequest): Signed | undefined {
  const { searchParams: query } = request.url;
  const header = /Credential=([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=(\w+)/.exec(
    request.headers.authorization ?? '',
  );
  const [credential, names, signature, date] =
    header === null
      ? ['Credential', 'SignedHeaders', 'Signature', 'Date'].map((name) => query.get(`X-Amz-${name}`) ?? '')
      : [...header.slice(1), request.headers['x-amz-date'] ?? ''];
  if (!credential || !names || !signature || !date) return undefined;
  const [key = '', ...scope] = credential.split('/');
  const told = [...query].filter(([name]) => name !== 'X-Amz-Signature');
  const pairs = told.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort();
  const headers = names
    .split(';')
    .map((name) => `${name}:${name === 'host' ? request.url.host : request.headers[name]}\n`);
  const canonical = [request.method, request.url.pathname, pairs.join('&'), headers.join(''), names, sha256('')];
  const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), sha256(canonical.join('\n'))].join('\n');
  const signing = scope.reduce<string | Buffer>((each, part) => hmac(each, part), `AWS4${key}`);
  return { key, isRight: hmac(signing, text).toString('hex') === signature };
}
