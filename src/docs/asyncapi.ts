// The live interface as AsyncAPI 3.0: the query of `/v1/listen`, the messages of both directions and the close codes. The
// document speaks for the gateway: what it receives is what a client sends.
import type { TSchema } from '@sinclair/typebox';
import { type Advice, ERROR_CATALOGUE, type ErrorCode } from '../api/error-catalogue.ts';
import { ProviderParams } from '../api/listen.ts';
import { ListenQuery } from '../api/request-parameters.ts';
import type { Provider } from '../vendors/kit/provider.ts';
import * as examples from './schemas/examples.ts';
import {
  CLIENT_MESSAGES,
  grouped,
  type Json,
  liveSchemas,
  type NamedSchemas,
  SchemaBook,
  SERVER_EVENTS,
} from './schemas/schemas.ts';

const DESCRIPTION = `One WebSocket is one session. Binary frames are audio: any size to the limit that \`session_started\` names, any cadence; the gateway cuts and paces it for the provider. Text frames are JSON.

For each turn there may be any number of transcripts with \`is_final: false\`, then exactly one with \`is_final: true\`. Times are seconds of the session's audio, and keep rising when a fallback takes over. After \`close\` every turn that had audio gets its final, then \`session_ended\` comes, and the socket is closed with 1000. Every other close has an \`error\` event before it; the range of the close code says what to do: 40xx do not retry unchanged, 41xx retry with back-off, 42xx reconnect at once.

Ignore events and members that you do not know: within \`/v1\` they may be added.`;

const EXAMPLES: Readonly<Record<string, Json>> = {
  SessionStarted: examples.sessionStarted,
  Transcript: examples.transcript,
  SessionEnded: examples.sessionEnded,
  StartMessage: examples.startMessage,
  Finalize: { type: 'finalize' },
  Close: { type: 'close' },
  Keepalive: { type: 'keepalive' },
};

const AUDIO: Json = {
  name: 'audio',
  title: 'Audio',
  summary: 'A binary frame of samples.',
  description:
    'As `encoding`, `sample_rate` and `channels` say: little-endian, several channels interleaved. A sample may be cut in two by the end of a frame.',
  contentType: 'application/octet-stream',
  payload: { type: 'string', format: 'binary' },
};

const BEARER = 'The credential is an API key (`sk_vox_…`, on servers) or a client token (`st_…`, in browsers).';

const SECURITY_SCHEMES: Json = {
  header: { type: 'http', scheme: 'bearer', description: `The header \`Authorization\`. ${BEARER}` },
  subprotocol: {
    type: 'httpApiKey',
    in: 'header',
    name: 'Sec-WebSocket-Protocol',
    description: `The subprotocols \`bearer\` and the credential; the answer names \`bearer\`. ${BEARER}`,
  },
  query: {
    type: 'httpApiKey',
    in: 'query',
    name: 'api_key',
    description: `The query parameter \`api_key\`. Discouraged: URLs are logged. ${BEARER}`,
  },
};

export function asyncapiDocument({ version, providers }: { version: string; providers: readonly Provider[] }): Json {
  const book = new SchemaBook(liveSchemas(providers), { ProviderParams });
  const messages = { Audio: AUDIO, ...messagesOf(CLIENT_MESSAGES, book), ...messagesOf(SERVER_EVENTS, book) };
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Voxgate live',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      gateway: {
        host: '{host}',
        protocol: 'wss',
        description: 'The gateway that serves this document; `ws` where it is reached without TLS.',
        variables: { host: { default: '127.0.0.1:8080', description: 'Host name or address, with its port.' } },
        security: Object.keys(SECURITY_SCHEMES).map((name) => ({ $ref: `#/components/securitySchemes/${name}` })),
      },
    },
    channels: {
      listen: {
        address: '/v1/listen',
        title: 'A live session',
        summary: 'Audio in, transcripts out.',
        messages: references('#/components/messages', Object.keys(messages)),
        bindings: { ws: { method: 'GET', query: queryOf(book), bindingVersion: '0.1.0' } },
        'x-close-codes': closeCodes().map(({ advice, ...row }) => ({ ...row, advice: ADVICE[advice] })),
      },
    },
    operations: {
      receive: operation('receive', 'What a client sends.', ['Audio', ...Object.keys(CLIENT_MESSAGES)]),
      send: operation('send', 'What a client hears.', Object.keys(SERVER_EVENTS)),
    },
    components: { schemas: book.components, messages, securitySchemes: SECURITY_SCHEMES },
  };
}

const references = (place: string, names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `${place}/${name}` }]));

const operation = (action: 'send' | 'receive', summary: string, names: readonly string[]): Json => ({
  action,
  summary,
  channel: { $ref: '#/channels/listen' },
  messages: names.map((name) => ({ $ref: `#/channels/listen/messages/${name}` })),
});

function messagesOf(schemas: NamedSchemas, book: SchemaBook): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const type = schema.properties.type.const as string;
      const example = EXAMPLES[name];
      const message = {
        name: type,
        title: name,
        summary: schema.description as string,
        contentType: 'application/json',
        payload: book.reference(name),
        ...(example === undefined ? {} : { examples: [{ name: type, payload: example }] }),
      };
      return [name, message];
    }),
  );
}

/** Objects are written as JSON. */
function queryOf(book: SchemaBook): Json {
  const parameters = Object.entries<TSchema>(ListenQuery.properties);
  const properties = Object.fromEntries(parameters.map(([name, schema]) => [name, book.use(schema)]));
  return { type: 'object', properties, additionalProperties: false };
}

// With which code a live session is closed, and what a client may do then: the catalogue's rows by their close code.
export interface CloseCode {
  close: number;
  advice: Advice | 'none';
  /** The codes of the `error` event that comes before; none where the session ended in order. */
  codes: readonly ErrorCode[];
  when: string;
}

const NORMAL: CloseCode = {
  close: 1000,
  advice: 'none',
  codes: [],
  when: 'The session ended normally: after `close`, everything was delivered.',
};

const TRY_LATER: CloseCode = {
  close: 1013,
  advice: 'back_off',
  codes: [],
  when: 'Too many messages wait for the session’s node. The session continues: reconnect with the resume token.',
};

const RESTART: CloseCode = {
  close: 1012,
  advice: 'reconnect',
  codes: [],
  when: 'The node that relays to the session’s node is shutting down. The session continues: reconnect with the resume token.',
};

/** In rising order. */
export function closeCodes(): readonly CloseCode[] {
  const rows = Object.entries(ERROR_CATALOGUE).map(([code, row]) => ({ code: code as ErrorCode, ...row }));
  const refused = [...grouped(rows, ({ close }) => close)].flatMap(([close, each]) =>
    close === null ? [] : [closeCode(close, each)],
  );
  return [NORMAL, RESTART, TRY_LATER, ...refused].sort((one, other) => one.close - other.close);
}

type Row = { code: ErrorCode; advice: Advice; when: string };

const closeCode = (close: number, rows: readonly Row[]): CloseCode => ({
  close,
  advice: rows[0]?.advice ?? 'none',
  codes: rows.map(({ code }) => code),
  when: rows.map(({ when }) => when).join(' '),
});

/** What a client should do, in words. */
export const ADVICE: Readonly<Record<CloseCode['advice'], string>> = {
  none: 'nothing',
  stop: 'do not retry unchanged',
  back_off: 'retry with back-off',
  reconnect: 'reconnect at once',
};
