// An S3-compatible service in this process: one bucket, objects in memory, signatures checked by a second implementation, and faults on demand.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

export const ACCESS_KEY = { accessKeyId: 'AKIATESTTESTTEST', secretAccessKey: 'test/secret+access=key' } as const;
export const REGION = 'eu-central-1';
export const BUCKET = 'backups';

export interface S3Call {
  method: string;
  /** Without the bucket. */
  key: string;
  query: URLSearchParams;
}

interface Fault {
  status: number;
  body?: string | Buffer;
  headers?: Record<string, string>;
  /** Ends the connection after the body. */
  isCut?: boolean;
}

export class S3Server {
  readonly objects = new Map<string, Buffer>();
  readonly calls: S3Call[] = [];
  /** Parts of uploads that are neither complete nor given up. */
  readonly uploads = new Map<string, Map<number, Buffer>>();
  /** A fault for this call; it is not carried out then. */
  fault: (call: S3Call) => Fault | undefined = () => undefined;
  /** What is kept of the bytes that arrive. */
  keep: (bytes: Buffer) => Buffer = (bytes) => bytes;
  pageSize = 1000;
  #url = '';

  get url(): string {
    return this.#url;
  }

  /** @internal */
  async listen(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    started.push(() => {
      server.closeAllConnections();
      server.close();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const { pathname, searchParams: query } = new URL(request.url ?? '', this.#url);
    const [, bucket = '', ...rest] = pathname.split('/').map(decodeURIComponent);
    const call = { method: request.method ?? '', key: rest.join('/'), query };
    this.calls.push(call);
    const refused = this.fault(call) ?? faultOfRequest(request, body, bucket);
    if (refused === undefined) this.#carryOut(call, body, response);
    else {
      response.writeHead(refused.status, refused.headers);
      if (refused.isCut === true) response.write(refused.body ?? '', () => response.destroy());
      else response.end(refused.body ?? '');
    }
  }

  #carryOut({ method, key, query }: S3Call, body: Buffer, response: ServerResponse): void {
    const uploadId = query.get('uploadId') ?? '';
    const parts = this.uploads.get(uploadId);
    if (method === 'GET' && key === '') response.end(this.#list(query));
    else if (method === 'GET') this.#get(key, response);
    else if (method === 'POST' && query.has('uploads')) {
      const id = randomBytes(8).toString('hex');
      this.uploads.set(id, new Map());
      response.end(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
    } else if (uploadId !== '' && parts === undefined) response.writeHead(404).end(errorXml('NoSuchUpload'));
    else if (method === 'PUT' && parts !== undefined) {
      parts.set(Number(query.get('partNumber')), this.keep(body));
      response.writeHead(200, { ETag: `"${md5(body)}"` }).end();
    } else if (method === 'POST' && parts !== undefined) this.#complete(key, uploadId, parts, body, response);
    else if (method === 'DELETE' && parts !== undefined) {
      this.uploads.delete(uploadId);
      response.writeHead(204).end();
    } else if (method === 'PUT') {
      this.objects.set(key, this.keep(body));
      response.writeHead(200, { ETag: `"${md5(body)}"` }).end();
    } else if (method === 'DELETE') {
      this.objects.delete(key);
      response.writeHead(204).end();
    } else response.writeHead(405).end(errorXml('MethodNotAllowed'));
  }

  #get(key: string, response: ServerResponse): void {
    const object = this.objects.get(key);
    if (object === undefined) response.writeHead(404).end(errorXml('NoSuchKey'));
    else response.writeHead(200, { 'Content-Length': object.length }).end(object);
  }

  #complete(key: string, id: string, parts: Map<number, Buffer>, body: Buffer, response: ServerResponse): void {
    const wanted = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>"(\w+)"<\/ETag>/g)];
    const isKnown = wanted.every(([, number]) => parts.has(Number(number)));
    if (!isKnown || wanted.length === 0) return void response.writeHead(400).end(errorXml('InvalidPart'));
    this.objects.set(key, Buffer.concat(wanted.map(([, number]) => parts.get(Number(number)) as Buffer)));
    this.uploads.delete(id);
    response.end('<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>');
  }

  #list(query: URLSearchParams): string {
    const prefix = query.get('prefix') ?? '';
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    const from = keys.findIndex((key) => key > (query.get('continuation-token') ?? '').replace(/^after&/, ''));
    const page = from < 0 ? [] : keys.slice(from, from + this.pageSize);
    const isTruncated = from >= 0 && from + page.length < keys.length;
    const contents = page.map(
      (key) =>
        `<Contents><Key>${encodeURIComponent(key)}</Key><Size>${this.objects.get(key)?.length}</Size></Contents>`,
    );
    const next = isTruncated ? `<NextContinuationToken>after&amp;${page.at(-1)}</NextContinuationToken>` : '';
    return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`;
  }
}

const started: (() => void)[] = [];
// Registered on import, so that one may also be started inside a test.
afterAll(() => {
  for (const stop of started.splice(0)) stop();
});

export async function startS3Server(): Promise<S3Server> {
  const server = new S3Server();
  await server.listen();
  return server;
}

export const errorXml = (code: string): string => `<Error><Code>${code}</Code><Message>no</Message></Error>`;

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');
const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

/** What is wrong with its signature, its content or its bucket. */
function faultOfRequest(request: IncomingMessage, body: Buffer, bucket: string): Fault | undefined {
  if (request.headers['x-amz-content-sha256'] !== sha256(body)) {
    return { status: 400, body: errorXml('XAmzContentSHA256Mismatch') };
  }
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/;
  const [, id, day = '', region = '', names = '', signature = ''] =
    pattern.exec(request.headers.authorization ?? '') ?? [];
  if (id !== ACCESS_KEY.accessKeyId) return { status: 403, body: errorXml('InvalidAccessKeyId') };
  const wanted = signatureOf(request, { day, region, names });
  const isRight = wanted.length === signature.length && timingSafeEqual(Buffer.from(wanted), Buffer.from(signature));
  if (!isRight || !names.split(';').includes('host')) return { status: 403, body: errorXml('SignatureDoesNotMatch') };
  if (region !== REGION) {
    return { status: 301, body: errorXml('PermanentRedirect'), headers: { 'x-amz-bucket-region': REGION } };
  }
  return bucket === BUCKET ? undefined : { status: 404, body: errorXml('NoSuchBucket') };
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function signatureOf(request: IncomingMessage, { day, region, names }: Record<'day' | 'region' | 'names', string>) {
  const [path = '', search = ''] = (request.url ?? '').split('?');
  const query = [...new URLSearchParams(search)].map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort();
  const headers = names.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`);
  const hash = String(request.headers['x-amz-content-sha256']);
  const canonical = [request.method, path, query.join('&'), headers.join(''), names, hash].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(
    (each, part) => hmac(each, part),
    `AWS4${ACCESS_KEY.secretAccessKey}`,
  );
  return hmac(key, text).toString('hex');
}
