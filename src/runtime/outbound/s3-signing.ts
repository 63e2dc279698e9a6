// Requests to an S3-compatible service: where a bucket is, and what a request is signed with (AWS Signature Version 4).
import { createHash } from 'node:crypto';
import aws4 from 'aws4';

export interface S3Access {
  /** Base URL without a path, such as `https://s3.example.com`; Amazon S3 when absent. */
  endpoint: string | undefined;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

export interface S3BucketAddress {
  base: URL;
  /** Before the key in the path: empty where the bucket is in the name of the host. */
  root: string;
}

export function bucketAddress(
  { endpoint, region }: Pick<S3Access, 'endpoint' | 'region'>,
  bucket: string,
): S3BucketAddress {
  // A dot in its name would not fit the certificate of the service.
  const isInHost = endpoint === undefined && !bucket.includes('.');
  const host = `${isInHost ? `${bucket}.` : ''}s3.${region}.amazonaws.com`;
  return { base: new URL(endpoint ?? `https://${host}`), root: isInHost ? '' : `/${bucket}` };
}

interface UnsignedRequest {
  method: string;
  /** Of the object; empty for the bucket. */
  key: string;
  query?: Readonly<Record<string, string>> | undefined;
  body?: Uint8Array | undefined;
}

/** The address of a request, and its headers. They are good for some minutes. */
export function signedRequest(
  { base, root }: S3BucketAddress,
  { region, accessKeyId, secretAccessKey }: S3Access,
  { method, key, query = {}, body }: UnsignedRequest,
): { url: string; headers: Record<string, string> } {
  const path = `${root}/${key.split('/').map(encoded).join('/')}`;
  const search = new URLSearchParams(query).toString().replaceAll('+', '%20');
  const signed = aws4.sign(
    {
      method,
      host: base.host,
      path: search === '' ? path : `${path}?${search}`,
      service: 's3',
      region,
      headers: {
        Host: base.host,
        'X-Amz-Content-Sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
        ...(body === undefined ? {} : { 'Content-Type': 'application/octet-stream' }),
      },
    },
    { accessKeyId, secretAccessKey },
  );
  const { Host: _, ...headers } = signed.headers as Record<string, string>;
  return { url: `${base.origin}${signed.path}`, headers };
}

/** As signatures have it: some characters that mean nothing in a path as well. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
