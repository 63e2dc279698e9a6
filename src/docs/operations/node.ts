// The operator's operations, and the documents themselves.
import { Type } from '@sinclair/typebox';
import { HealthAnswer, ReadyAnswer, ReadyQuery } from '../../api/health.ts';
import type { Answer, Operation } from './operation.ts';

const node = { method: 'get', tag: 'Operation', security: 'none', errors: [] } as const;

const getHealth: Operation = {
  ...node,
  id: 'getHealth',
  path: '/healthz',
  summary: 'Is it alive?',
  description: 'Answers as long as the process does.',
  answers: {
    200: { description: 'It is.', forms: { 'application/json': { schema: HealthAnswer, example: { status: 'ok' } } } },
  },
  curl: 'curl {base}/healthz',
};

const getReady: Operation = {
  ...node,
  id: 'getReady',
  path: '/readyz',
  summary: 'Does it take work?',
  description:
    'For a balancer: 503 from the moment the node drains. `new_paid_sessions` is false while the ledger does not answer: then only free work, work on own provider keys and customers without any limit can begin. With `?paid=true` that is a 503 as well. A node that keeps a copy of the accounts while another node owns them is a `standby`, which is a 503 too. With `?standby=true` it is a 200 once the node could take over.',
  query: ReadyQuery,
  answers: {
    200: {
      description: 'It does.',
      forms: { 'application/json': { schema: ReadyAnswer, example: { status: 'ready', new_paid_sessions: true } } },
    },
    503: {
      description:
        'It is shutting down or a standby, or `paid=true` was requested and no paid session can begin: send no clients here.',
      forms: { 'application/json': { schema: ReadyAnswer, example: { status: 'draining' } } },
    },
  },
  errors: ['invalid_request'],
  curl: 'curl {base}/readyz',
};

const getMetrics: Operation = {
  ...node,
  id: 'getMetrics',
  path: '/metrics',
  summary: 'Metrics for Prometheus',
  description:
    'Open to whoever sends the operator’s token (`VOXGATE_METRICS_TOKEN`); without one, on a node that listens on its own machine alone.',
  security: 'metrics',
  answers: {
    200: {
      description: 'The metrics.',
      forms: { 'text/plain': { schema: { text: 'Prometheus text format.' }, example: 'voxgate_sessions 0\n' } },
    },
  },
  errors: ['not_found'],
  curl: 'curl {base}/metrics -H "Authorization: Bearer $VOXGATE_METRICS_TOKEN"',
};

const documents = { ...node, tag: 'Documents' } as const;
const HEADERS = ['ETag'];
const unchanged: Answer = { description: 'It is as `If-None-Match` knows it.', headers: HEADERS, forms: {} };

const getOpenapi: Operation = {
  ...documents,
  id: 'getOpenapi',
  path: '/openapi.json',
  summary: 'The HTTP interface as OpenAPI 3.1',
  description: 'This document.',
  answers: {
    200: {
      description: 'The document.',
      headers: HEADERS,
      forms: { 'application/json': { schema: Type.Unknown(), example: { openapi: '3.1.1' } } },
    },
    304: unchanged,
  },
  curl: 'curl {base}/openapi.json',
};

const getAsyncapi: Operation = {
  ...documents,
  id: 'getAsyncapi',
  path: '/asyncapi.json',
  summary: 'The live interface as AsyncAPI 3.0',
  description: 'The messages of `/v1/listen`, in both directions, and its close codes.',
  answers: {
    200: {
      description: 'The document.',
      headers: HEADERS,
      forms: { 'application/json': { schema: Type.Unknown(), example: { asyncapi: '3.0.0' } } },
    },
    304: unchanged,
  },
  curl: 'curl {base}/asyncapi.json',
};

const page = { description: 'The page.', headers: HEADERS };
const html = { 'text/html': { schema: { text: 'A page without scripts.' }, example: '<!doctype html>' } };
/** With `.md` behind the name. */
const written = {
  ...html,
  'text/markdown': { schema: { text: 'The page as it is written.' }, example: '# Failover\n' },
};

const getDocs: Operation = {
  ...documents,
  id: 'getDocs',
  path: '/docs',
  summary: 'These documents as pages',
  description: 'Where to begin.',
  answers: { 200: { ...page, forms: html }, 304: unchanged },
  curl: 'curl {base}/docs',
};

const getDocsPage: Operation = {
  ...documents,
  id: 'getDocsPage',
  path: '/docs/{page}',
  summary: 'One of the pages',
  description:
    'The references of this interface, and the promises of the product. A page that is written as Markdown can be had as such, with `.md` behind its name.',
  segments: { page: { type: 'string', description: 'Which one.', example: 'rest' } },
  answers: { 200: { ...page, forms: written }, 304: unchanged },
  errors: ['not_found'],
  curl: 'curl {base}/docs/rest',
};

const getDocsPageInFolder: Operation = {
  ...getDocsPage,
  id: 'getDocsPageInFolder',
  path: '/docs/{folder}/{page}',
  summary: 'One of the pages of a folder',
  description: 'Guides, tables of errors, models, commands and settings, and what operators need.',
  segments: {
    folder: { type: 'string', description: '`guides`, `reference` or `operations`.', example: 'guides' },
    page: { type: 'string', description: 'Which one.', example: 'first-transcription' },
  },
  curl: 'curl {base}/docs/guides/first-transcription',
};

const searchDocs: Operation = {
  ...documents,
  id: 'searchDocs',
  path: '/docs/search',
  summary: 'Search these pages',
  description: 'The sections that have all of the words.',
  query: Type.Object(
    { q: Type.Optional(Type.String({ maxLength: 200, description: 'Words, with spaces between them.' })) },
    { additionalProperties: false },
  ),
  answers: { 200: { ...page, description: 'What was found.', forms: html }, 304: unchanged },
  errors: ['invalid_request', 'duplicate_parameter'],
  curl: 'curl "{base}/docs/search?q=failover"',
};

const getLlms: Operation = {
  ...documents,
  id: 'getLlms',
  path: '/llms.txt',
  summary: 'What there is to read, for language models',
  description: 'A summary of the product and links to the pages as Markdown.',
  answers: {
    200: {
      description: 'The list.',
      headers: HEADERS,
      forms: { 'text/plain': { schema: { text: 'Markdown, as llmstxt.org has it.' }, example: '# Voxgate\n' } },
    },
    304: unchanged,
  },
  curl: 'curl {base}/llms.txt',
};

export const nodeOperations: readonly Operation[] = [
  getHealth,
  getReady,
  getMetrics,
  getOpenapi,
  getAsyncapi,
  getDocs,
  getDocsPage,
  getDocsPageInFolder,
  searchDocs,
  getLlms,
];
