// Compares what a gateway was heard to say with the documents that it serves: answers by route, status and content type, requests
// that were taken, events and close codes of live sessions. Pure; who listens is documented.ts.
import { CONSOLE_PATHS } from '../../src/api/console/pages.ts';
import { asyncapiDocument, closeCodes } from '../../src/docs/asyncapi.ts';
import { openapiDocument } from '../../src/docs/openapi.ts';
import type { Json } from '../../src/docs/schemas/schemas.ts';
import { dialects } from '../../src/vendors/dialects.ts';
import { providers } from '../../src/vendors/index.ts';
import { StrictSchemas } from './strict-schemas.ts';

/** The head of an answer. */
export interface Answer {
  method: string;
  url: string;
  status: number;
  header(name: string): string | null;
  /** Whoever answered asked for no key, and has no limits to tell. */
  isKeyless?: boolean;
}

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema?: Json;
}

interface Operation {
  security: readonly Json[];
  parameters?: readonly Parameter[];
  requestBody?: { content: Readonly<Record<string, { schema: Json }>> };
  responses: Readonly<Record<string, { headers?: Json; content?: Json }>>;
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

const version = '0.0.0';
const openapi = openapiDocument({ version, providers });
const paths = openapi.paths as Paths;
const schemas = new StrictSchemas(openapi);
const events = new StrictSchemas(asyncapiDocument({ version, providers }));
const closes = new Set(closeCodes().map(({ close }) => close));
/** Below it codes are also those of libraries, proxies and connections that were cut. */
const OWN_CLOSE_MIN = 3000;
const OWN_HEADERS = Object.keys((openapi.components as { headers: Json }).headers);
/** Present wherever the document has them. */
const CERTAIN_HEADERS = ['X-Request-Id', 'WWW-Authenticate', 'ETag'];
const BODY_SHOWN_MAX = 400;

/** Paths of other vendors' clients that can be given none. */
const AT_ROOT = dialects.flatMap(({ atRoot = [] }) => atRoot);

const isOneOf = (patterns: readonly string[], path: string): boolean =>
  patterns.some((pattern) => new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(path));

/** The console is for people. */
const isForPeople = (path: string): boolean =>
  path === '/favicon.ico' ||
  isOneOf(CONSOLE_PATHS, path) ||
  /^\/(?:console|verify|reset-password|join)(?:\/|$)/.test(path);

export function isDocumentedPlace(url: string): boolean {
  const { pathname } = new URL(url);
  // What is below it speaks as other vendors' documents say.
  return !isForPeople(pathname) && !pathname.startsWith('/compat/') && !isOneOf(AT_ROOT, pathname);
}

function find(path: string): [template: string, methods: Paths[string]] | undefined {
  if (paths[path] !== undefined) return [path, paths[path]];
  return Object.entries(paths).find(([template]) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
}

/** What of an answer is not as the document says. */
export function problemsOfAnswer(answer: Answer, body: string): string[] {
  const { method, url, status } = answer;
  const path = new URL(url).pathname;
  const [template, methods] = find(path) ?? [];
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = methods?.[name];
  const tell = (problems: readonly string[]) =>
    problems.map((problem) => `${method} ${path} answered ${status}, and ${problem}\n${body.slice(0, BODY_SHOWN_MAX)}`);
  const anyRefusal = ['components', 'schemas', 'ErrorAnswer'];
  const type = essence(answer.header('content-type'));
  const json = () => parsed(body);
  // What browsers ask by themselves is no operation.
  if (method === 'OPTIONS' && status === 204) return [];
  // The page for a person whose browser asked at an unknown address.
  if (status === 404 && type === 'text/html') return [];
  if (operation === undefined || template === undefined) {
    const expected = methods === undefined ? 404 : 405;
    const wrong =
      status === expected || status === 414
        ? []
        : [`the document has no such ${methods === undefined ? 'path' : 'method'}.`];
    return tell([...wrong, ...(method === 'HEAD' ? [] : schemas.problems(anyRefusal, json()))]);
  }
  const response = operation.responses[status];
  if (response === undefined) return tell(['the document does not know that status here.']);
  const problems = headerProblems(answer, response.headers ?? {}, operation);
  const { content } = response;
  if (method === 'HEAD' || content === undefined) return tell(problems);
  if (content[type] === undefined) return tell([...problems, `the document does not know the content type "${type}".`]);
  const place = ['paths', template, name, 'responses', `${status}`, 'content', type, 'schema'];
  const values = type === 'application/json' ? [json()] : type === 'text/event-stream' ? dataOf(body) : [body];
  return tell([...problems, ...values.flatMap((value) => schemas.problems(place, value))]);
}

function headerProblems({ header, status, isKeyless }: Answer, documented: Json, { security }: Operation): string[] {
  const undocumented = OWN_HEADERS.filter((name) => header(name) !== null && documented[name] === undefined);
  const isKeyed = security.some((scheme) => scheme.apiKey !== undefined);
  const tellsLimits = status < 300 && isKeyed && isKeyless !== true;
  const isCertain = (name: string) => CERTAIN_HEADERS.includes(name) || (tellsLimits && name.startsWith('RateLimit-'));
  const missing = Object.keys(documented).filter((name) => isCertain(name) && header(name) === null);
  const wrong = OWN_HEADERS.filter((name) => header(name) !== null).flatMap((name) => {
    const place = ['components', 'headers', name, 'schema'];
    const { schema } = (openapi.components as { headers: Record<string, { schema: Json }> }).headers[name]!;
    return schemas.problems(place, readAs(schema, header(name)!)).map((problem) => `the header ${name}: ${problem}`);
  });
  return [
    ...undocumented.map((name) => `the document does not know the header ${name} here.`),
    ...missing.map((name) => `the header ${name} is missing.`),
    ...wrong,
  ];
}

/** What of a request that was taken is not as the document says. `sent`: its body, as far as it is known. */
export async function problemsOfRequest({ method, url, status }: Answer, sent: unknown): Promise<string[]> {
  const { pathname, searchParams } = new URL(url);
  const [template, methods] = find(pathname) ?? [];
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = methods?.[name];
  if (operation === undefined || template === undefined) return [];
  const problems = [...searchParams].flatMap(([parameter, text]) => {
    const at = (operation.parameters ?? []).findIndex((each) => each.in === 'query' && each.name === parameter);
    const { schema } = operation.parameters?.[at] ?? {};
    if (at === -1) return [`the document does not know the parameter ${parameter}.`];
    const place = ['paths', template, name, 'parameters', `${at}`, 'schema'];
    return schema === undefined ? [] : schemas.problems(place, readAs(schema, text));
  });
  const bodies = Object.entries(operation.requestBody?.content ?? {});
  const isText = typeof sent === 'string';
  const [type, body] = bodies.find(([each]) => (each === 'application/json') === isText) ?? bodies[0] ?? [];
  const value = await bodyOf(sent, body?.schema);
  if (type !== undefined && value !== undefined) {
    problems.push(...schemas.problems(['paths', template, name, 'requestBody', 'content', type, 'schema'], value));
  }
  return problems.map((problem) => `${method} ${pathname} was answered ${status}, though ${problem}`);
}

/** The body as the schema sees it; undefined where it is not known. */
async function bodyOf(sent: unknown, schema: Json | undefined): Promise<unknown> {
  if (typeof sent === 'string') return parsed(sent);
  if (!Array.isArray(sent)) return undefined;
  const properties = resolved(schema ?? {}).properties as Readonly<Record<string, Json>> | undefined;
  const value: Record<string, unknown> = {};
  for (const [name, entry] of sent as [string, string | Blob][]) {
    const member = resolved(properties?.[name] ?? {});
    // An empty field counts as absent.
    if (entry === '') continue;
    const text = typeof entry === 'string' ? entry : name === 'file' ? '' : await entry.text();
    const items = member.type === 'array' ? (member.items as Json) : undefined;
    if (items === undefined) value[name] = readAs(member, text);
    else value[name] = [...((value[name] as unknown[] | undefined) ?? []), readAs(items, text)];
  }
  return value;
}

export function problemsOfEvent(text: string): string[] {
  const event = parsed(text);
  const type = (event as { type?: unknown } | undefined)?.type;
  const name = String(type).replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const schema = name === 'Error' ? 'ErrorEvent' : name;
  const problems = events.problems(['components', 'schemas', schema], event);
  return problems.map(
    (problem) => `/v1/listen sent an event "${type}", and ${problem}\n${text.slice(0, BODY_SHOWN_MAX)}`,
  );
}

export const problemsOfClose = (code: number): string[] =>
  code < OWN_CLOSE_MIN || closes.has(code)
    ? []
    : [`/v1/listen was closed with ${code}, which the table of close codes does not have.`];

/** A text as the value that its schema is about. */
function readAs(schema: Json, text: string): unknown {
  const { type, anyOf } = resolved(schema);
  if (type === 'boolean') return text === 'true' || (text === 'false' ? false : text);
  if (type === 'integer' || type === 'number') return text.trim() === '' ? text : Number(text);
  return type === 'object' || anyOf !== undefined ? (parsed(text) ?? text) : text;
}

function resolved(schema: Json): Json {
  if (typeof schema.$ref !== 'string') return schema;
  const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  return (openapi.components as { schemas: Record<string, Json> }).schemas[name] ?? {};
}

const essence = (type: string | null): string => (type ?? '').split(';')[0]!.trim().toLowerCase();

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The data of server-sent events. */
const dataOf = (stream: string): unknown[] =>
  stream
    .split(/\r?\n\r?\n/)
    .map((event) =>
      event
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trimStart())
        .join('\n'),
    )
    .filter((data) => data !== '')
    .map(parsed);
