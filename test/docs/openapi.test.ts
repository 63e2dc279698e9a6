// `/openapi.json` says what the code does, and nothing else: routes, codes, parameters and fields, in both directions.
import { readFileSync } from 'node:fs';
import type { TObject } from '@sinclair/typebox';
import { beforeAll, describe, expect, test } from 'vitest';
import { SCOPES } from '../../src/accounts/keys/calls.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../src/api/error-catalogue.ts';
import type { ApiError } from '../../src/api/errors.ts';
import { ListenQuery, TranscriptionForm } from '../../src/api/request-parameters.ts';
import { openapiDocument } from '../../src/docs/openapi.ts';
import { CONSOLE_CODES } from '../../src/docs/operations/operation.ts';
import type { Json } from '../../src/docs/schemas/schemas.ts';
import { readFields } from '../../src/files/routes/form.ts';
import { readListenQuery } from '../../src/live/socket/query.ts';
import { type RoutesDependencies, routesOf } from '../../src/node/routes/index.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { providers } from '../../src/vendors/index.ts';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { OPERATOR } from '../fakes/store/ledger.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const document = openapiDocument({ version, providers });
const paths = document.paths as Record<string, Record<string, Json>>;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method,
    operation,
    id: operation.operationId as string,
  })),
);
const { schemas } = document.components as { schemas: Record<string, Json> };
const gateway = await startLiveGateway();

test('comes as OpenAPI 3.1, for the running release', async () => {
  const served = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as typeof document & { info: Json };
  expect([served.openapi, served.info.version]).toEqual(['3.1.1', version]);
  expect(served).toEqual(JSON.parse(JSON.stringify(document)));
});

test('lists every route of the gateway with its method, and no other', () => {
  const known = new Map(providers.map((each) => [each.name, each]));
  const nothing = { http: {}, metricsAccess: {}, webhooks: {}, providers: known, consoleRoutes: [] };
  const routes = routesOf(nothing as unknown as RoutesDependencies);
  // What browsers ask by themselves is no operation; what other vendors' clients ask is in those vendors' documents.
  const asked = routes.filter(({ method, path }) => method !== 'OPTIONS' && !path.startsWith('/compat/'));
  const real = asked.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
  expect(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(real.sort());
});

test('keeps the names of its operations: programs are generated from them', () => {
  expect(operations.map(({ id }) => id)).toEqual([
    'listModels',
    'getModel',
    'getModelBySlug',
    'createTranscription',
    'listen',
    'createToken',
    'createJob',
    'listJobs',
    'getJob',
    'deleteJob',
    'getJobResult',
    'cancelJob',
    'getUsage',
    'getBalance',
    'listSessions',
    'getSession',
    'getSessionEvents',
    'getBill',
    'listWebhooks',
    'createWebhook',
    'getWebhook',
    'changeWebhook',
    'deleteWebhook',
    'rollWebhookSecret',
    'testWebhook',
    'listWebhookDeliveries',
    'resendWebhookDelivery',
    'getHealth',
    'getReady',
    'getMetrics',
    'getOpenapi',
    'getAsyncapi',
    'getDocs',
    'getDocsPage',
    'getDocsPageInFolder',
    'searchDocs',
    'getLlms',
  ]);
});

describe('an error code', () => {
  test('appears in the document exactly when the catalogue has it', () => {
    const { code } = (schemas.Error as { properties: Record<string, Json> }).properties;
    expect(code?.enum).toEqual(Object.keys(ERROR_CATALOGUE));
  });

  test('stands under its own status; those of the console and of open sockets have no place', () => {
    const places = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses as Record<string, Json>).flatMap(([status, response]) =>
        codesOf(response).map((code) => ({ code, status })),
      ),
    );
    expect(places.filter(({ code, status }) => `${ERROR_CATALOGUE[code].status}` !== status)).toEqual([]);
    const onSockets = [
      'session_idle',
      'session_too_long',
      'message_too_big',
      'audio_backlog_exceeded',
      'slow_consumer',
    ];
    // Where a path has another method: there is no operation to say it.
    const elsewhere = [...CONSOLE_CODES, ...onSockets, 'method_not_allowed'];
    const told = new Set(places.map(({ code }) => code));
    expect([...told, ...elsewhere].sort()).toEqual(Object.keys(ERROR_CATALOGUE).sort());
  });
});

function codesOf(response: Json): ErrorCode[] {
  const [, list] = /"code":\{"type":"string","enum":(\[[^\]]*\])/.exec(JSON.stringify(response)) ?? [];
  return list === undefined ? [] : JSON.parse(list);
}

describe('accepted parameters', () => {
  const namesOf = (schema: TObject) => Object.keys(schema.properties).sort();
  /** What a refusal of an unknown name lists. */
  const knownIn = (message: string) => (/Known(?: are|:) (.*)\.$/.exec(message)?.[1] ?? '').split(', ').sort();
  const refusalOf = (ask: () => unknown): string => {
    try {
      ask();
    } catch (refusal) {
      return (refusal as ApiError).message;
    }
    return '';
  };

  test('match the parser of /v1/listen', () => {
    const message = refusalOf(() => readListenQuery(new Map([['unknown', '1']])));
    expect(namesOf(ListenQuery)).toEqual(knownIn(message));
  });

  test('match the form of a transcription', () => {
    const message = refusalOf(() => readFields([['unknown', '1']]));
    expect(namesOf(TranscriptionForm)).toEqual(knownIn(message));
  });

  let managing: string;
  beforeAll(async () => {
    const store = await openSqliteStore({ directory: gateway.directory });
    const [organisation] = await store.listOrganisations();
    const created = await store.createKey(organisation!.id, { scopes: [...SCOPES] }, OPERATOR);
    managing = created.secret;
    await store.close();
  });

  const asked = operations.filter(({ path, method }) => method === 'get' && /^\/v1\/(?!listen|models\/)/.test(path));
  test.each(asked)('match the route $path', async ({ path, operation }) => {
    const filled = path.replace('{id}', 'ses_1').replace('{month}', '2026-01');
    const parameters = (operation.parameters ?? []) as { name: string; in: string }[];
    const told = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
    const headers = { Authorization: `Bearer ${managing}` };
    const answer = await gateway.request(`${filled}?unknown=1`, { headers });
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('invalid_request');
    expect(told.sort()).toEqual(told.length === 0 ? [] : knownIn(error.message));
    expect(error.message.includes('It takes none.')).toBe(told.length === 0);
  });
});

describe('schemas', () => {
  test('exist under each name in use, and are all used', () => {
    const text = JSON.stringify(document);
    const references = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name as string));
    expect([...references].filter((name) => schemas[name] === undefined)).toEqual([]);
    expect(Object.keys(schemas).filter((name) => !references.has(name))).toEqual([]);
  });

  test('describe `provider_params` for every model, once', () => {
    const told = Object.values(schemas).map(({ description }) => String(description));
    const lists = told.flatMap((text) => /^`provider_params` of (.*)\.$/.exec(text)?.[1]?.split(', ') ?? []);
    expect(lists.sort()).toEqual(providers.flatMap(({ models }) => models.map(({ id }) => id)).sort());
  });

  test('describe the members of objects', () => {
    const open = Object.entries(schemas).filter(
      ([, schema]) => schema.type === 'object' && schema.properties === undefined,
    );
    expect(open).toEqual([]);
  });
});
