// The operations that say what was used and what it costs.

import { WatchedFrame } from '../../api/console/watching.ts';
import {
  BalanceAnswer,
  BillAnswer,
  BillQuery,
  SessionAnswer,
  SessionEventsQuery,
  SessionList,
  SessionsQuery,
  UsageList,
  UsageQuery,
} from '../../api/usage.ts';
import * as examples from '../schemas/examples.ts';
import { KEY_CODES, LEDGER_CODES, type Operation, QUERY_CODES } from './operation.ts';

const errors = [...KEY_CODES, ...QUERY_CODES, ...LEDGER_CODES];

const getUsage: Operation = {
  id: 'getUsage',
  method: 'get',
  path: '/v1/usage',
  tag: 'Account',
  summary: 'Get usage',
  description: 'What your organisation has used in a stretch of time, and what it cost.',
  security: 'key',
  query: UsageQuery,
  answers: {
    200: {
      description: 'The usage.',
      headers: ['Content-Disposition'],
      forms: {
        'application/json': { schema: UsageList, example: examples.usage },
        'text/csv': { schema: { text: 'One row for each group.' }, example: examples.usageCsv },
      },
    },
  },
  errors: [...errors, 'not_found'],
  curl: 'curl "{base}/v1/usage?group_by=day" -H "Authorization: Bearer $VOXGATE_KEY"',
};

const getBalance: Operation = {
  id: 'getBalance',
  method: 'get',
  path: '/v1/balance',
  tag: 'Account',
  summary: 'Get the balance',
  description: 'What your organisation has, what is set aside for work under way, and what is left to spend.',
  security: 'key',
  answers: {
    200: {
      description: 'The balance.',
      forms: { 'application/json': { schema: BalanceAnswer, example: examples.balance } },
    },
  },
  errors,
  curl: 'curl {base}/v1/balance -H "Authorization: Bearer $VOXGATE_KEY"',
};

const listSessions: Operation = {
  id: 'listSessions',
  method: 'get',
  path: '/v1/sessions',
  tag: 'Account',
  summary: 'List sessions',
  description:
    'Live sessions and files of your organisation, newest first: all of them, or those that are as the query says. A page ends with `next`, which `before` takes.',
  security: 'key',
  query: SessionsQuery,
  answers: {
    200: {
      description: 'The sessions.',
      forms: {
        'application/json': {
          schema: SessionList,
          example: { object: 'list', data: [examples.session], has_more: false, next: null },
        },
      },
    },
  },
  errors: [...errors, 'not_found'],
  curl: 'curl "{base}/v1/sessions?limit=5" -H "Authorization: Bearer $VOXGATE_KEY"',
};

const getSession: Operation = {
  id: 'getSession',
  method: 'get',
  path: '/v1/sessions/{id}',
  tag: 'Account',
  summary: 'Get a session',
  description: 'One live session or file: state, usage and cost.',
  security: 'key',
  segments: {
    id: { type: 'string', description: '`ses_…`, or the `req_…` of a file.', example: examples.session.id },
  },
  answers: {
    200: {
      description: 'The session.',
      forms: { 'application/json': { schema: SessionAnswer, example: examples.session } },
    },
  },
  errors: [...errors, 'not_found'],
  curl: `curl {base}/v1/sessions/${examples.session.id} -H "Authorization: Bearer $VOXGATE_KEY"`,
};

const getSessionEvents: Operation = {
  id: 'getSessionEvents',
  method: 'get',
  path: '/v1/sessions/{id}/events',
  tag: 'Account',
  summary: 'Watch a session',
  description:
    'What happens in a live session, as it happens and from any node: states of its charts, connections, turns, failovers and figures; never what was said. A reader that reconnects with `Last-Event-ID` receives what it missed, as far as that is kept; after 15 minutes the stream ends and the reader has to reconnect. It also ends within 15 s after the key is revoked. For a session that has ended, the kept events are sent again. A WebSocket at the same address receives the transcripts of a telephone call, in the events of `/v1/listen`.',
  security: 'key',
  segments: {
    id: { type: 'string', description: '`ses_…`.', example: examples.session.id },
  },
  query: SessionEventsQuery,
  answers: {
    200: {
      description: 'The events, until the session ends.',
      forms: {
        'text/event-stream': {
          schema: {
            text: 'Server-sent events, each with its number as `id`; a comment every 15 s where nothing happens. The last one is `ended`.',
            events: [WatchedFrame],
          },
          example:
            'id: 7\ndata: {"kind":"mark","mark":"turn_final","text":"turn 2","start":3.1,"end":4.8,"sequence":7,"at":"2026-01-31T12:00:05.250Z"}\n\n',
        },
      },
    },
  },
  errors: [...errors, 'not_found', 'scope_not_allowed'],
  curl: `curl -N {base}/v1/sessions/${examples.session.id}/events -H "Authorization: Bearer $VOXGATE_KEY"`,
};

const getBill: Operation = {
  id: 'getBill',
  method: 'get',
  path: '/v1/bills/{month}',
  tag: 'Account',
  summary: 'Get a bill',
  description: 'One bill across all providers for one month, by UTC.',
  security: 'key',
  segments: {
    month: { type: 'string', pattern: '^\\d{4}-(0[1-9]|1[0-2])$', description: '`YYYY-MM`.', example: '2026-11' },
  },
  query: BillQuery,
  answers: {
    200: {
      description: 'The bill.',
      headers: ['Content-Disposition'],
      forms: {
        'application/json': { schema: BillAnswer, example: examples.bill },
        'text/csv': {
          schema: { text: 'One row for each balance, credit and line of usage.' },
          example: examples.billCsv,
        },
        'text/html': { schema: { text: 'A page to print.' }, example: '<!doctype html>' },
      },
    },
  },
  errors: [...errors, 'not_found'],
  curl: 'curl "{base}/v1/bills/2026-11?format=csv" -H "Authorization: Bearer $VOXGATE_KEY"',
};

export const accountOperations: readonly Operation[] = [
  getUsage,
  getBalance,
  listSessions,
  getSession,
  getSessionEvents,
  getBill,
];
