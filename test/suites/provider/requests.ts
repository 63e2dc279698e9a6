// The plain requests of the suite, and what is asked for in what a codec makes of them.
import type { JsonObject } from '../../../src/vendors/kit/json.ts';
import type {
  BatchRequest,
  Endpoint,
  HttpRequest,
  LegRequest,
  Outgoing,
  SocketEndpoint,
} from '../../../src/vendors/kit/provider.ts';

export const KEY = 'key-of-the-suite';

const BEARER = { authorization: `Bearer ${KEY}` };

export const socketAt = (url: string, headers: SocketEndpoint['headers'] = BEARER): SocketEndpoint => ({
  ...{ kind: 'websocket', url, headers },
});

export const getOf = (url: string, headers: HttpRequest['headers'] = BEARER) =>
  ({ method: 'GET', url, headers, body: { kind: 'none' } }) satisfies HttpRequest;

export const jsonTo = (url: string, json: JsonObject, headers: HttpRequest['headers'] = BEARER) =>
  ({ method: 'POST', url, headers, body: { kind: 'json', json } }) satisfies HttpRequest;

/** A form with these fields in front of the file. */
export const formTo = (
  url: string,
  fields: Readonly<Record<string, string>>,
  { headers = BEARER, file = 'file' }: { headers?: HttpRequest['headers']; file?: string } = {},
): HttpRequest => ({
  ...{ method: 'POST', url, headers },
  body: { kind: 'multipart', fields: Object.entries(fields), fileField: file },
});

/** The credential of somebody whose account is there. */
export const inRegion = (region: string) => ({
  ...{ baseUrl: undefined, credential: undefined },
  fields: { api_key: KEY, region },
});

export const legRequest = (change: Partial<LegRequest> & Pick<LegRequest, 'model' | 'sampleRate'>): LegRequest => ({
  language: undefined,
  interimResults: true,
  diarization: false,
  params: {},
  access: { baseUrl: undefined, credential: KEY },
  // 2026-11-23, noon.
  connection: { id: '0123456789abcdef0123456789abcdef', wallMs: 1_795_435_200_000 },
  ...change,
});

export const batchRequest = (change: Partial<BatchRequest> & Pick<BatchRequest, 'model'>): BatchRequest => ({
  language: undefined,
  diarization: false,
  wordTimestamps: false,
  params: {},
  access: { baseUrl: undefined, credential: KEY },
  file: { name: 'audio.wav', contentType: 'audio/wav', bytes: 44, seconds: 12.5 },
  ...change,
});

/** Texts by name, and a list where a name stands more than once; `[]` behind a name is none of it. */
function grouped(entries: Iterable<readonly [string, string]>): JsonObject {
  const members: Record<string, string | string[]> = {};
  for (const [name, value] of entries) {
    const plain = name.replace(/\[\]$/, '');
    const before = members[plain];
    members[plain] = before === undefined ? value : [before, value].flat();
  }
  return members;
}

export function askedByHttp({ url, body }: HttpRequest): JsonObject {
  const query = grouped(new URL(url).searchParams);
  if (body.kind === 'json' || body.kind === 'json-file') return { ...query, ...(body.json as JsonObject) };
  return body.kind === 'multipart' ? { ...query, ...grouped(body.fields) } : query;
}

export function askedByUrl(endpoint: Endpoint, _frames: readonly Outgoing[]): JsonObject {
  if (endpoint.kind === 'embedded') return endpoint.query;
  return endpoint.kind === 'request' ? askedByHttp(endpoint.request) : grouped(new URL(endpoint.url).searchParams);
}

/** A value as a query or a form has it. */
export function asText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** The members that are others than before; undefined where one is gone. */
export function changed(before: JsonObject, after: JsonObject): JsonObject {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const isOther = (name: string) => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  return Object.fromEntries([...names].filter(isOther).map((name) => [name, after[name]]));
}

/** The member of a member, and so on, where the place has dots. */
export const valueAt = (members: JsonObject, place: string): unknown =>
  place.split('.').reduce<unknown>((value, name) => (value as JsonObject | undefined)?.[name], members);

/** Whether two values are the same on the wire, where a list of one is that one. */
export const flat = (value: unknown): unknown[] => [value].flat();
