// The HTTP interface as OpenAPI 3.1, from the schemas that validate it. What the operations are stands in operations-*.ts.
import type { TSchema } from '@sinclair/typebox';
import { ProviderParams } from '../api/listen.ts';
import type { Provider } from '../vendors/kit/provider.ts';
import { accountOperations } from './operations/account.ts';
import { jobOperations } from './operations/jobs.ts';
import { nodeOperations } from './operations/node.ts';
import {
  type Answer,
  errorResponses,
  type Form,
  HEADERS,
  headersOf,
  type Operation,
  RATE_LIMIT_HEADERS,
  type TextForm,
} from './operations/operation.ts';
import { speechOperations } from './operations/speech.ts';
import { webhookOperations } from './operations/webhooks.ts';
import { type Json, restSchemas, SchemaBook } from './schemas/schemas.ts';

export interface OpenapiOptions {
  version: string;
  providers: readonly Provider[];
}

const TAGS: readonly Json[] = [
  { name: 'Models', description: 'Which models there are, and what they cost.' },
  { name: 'Files', description: 'A file in, its transcript out.' },
  { name: 'Jobs', description: 'Files that are transcribed in the background.' },
  { name: 'Live', description: 'Audio in and transcripts out while somebody speaks.' },
  { name: 'Tokens', description: 'Credentials for browsers and devices.' },
  { name: 'Account', description: 'Usage, balance, sessions and bills of your organisation.' },
  { name: 'Webhooks', description: 'Where your events are posted.' },
  { name: 'Operation', description: 'For whoever runs the gateway.' },
  { name: 'Documents', description: 'What you are reading.' },
];

const DESCRIPTION = `One interface to the speech-to-text models of many providers. A model is named \`<provider>/<model>\`.

Every refusal has the same body, \`{"error": {"type", "code", "message", "param", "request_id"}}\`, and every answer the header \`X-Request-Id\`. An unknown parameter, field or member is refused, so that a typo is never silent. \`HEAD\` is answered wherever \`GET\` is. Pages of other origins may read the documents, open \`/v1/listen\` with a client token, and send files to \`/v1/audio/transcriptions\` with a client token or a key that may be used from there; the other endpoints are for servers, and answer a page of another origin without \`Access-Control-*\` headers. Within \`/v1\` changes only add: ignore members, events and codes that you do not know.

The console of a gateway (\`/\` in a browser) is for people and no part of this interface.`;

const SECURITY_SCHEMES: Json = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, `sk_vox_…`, minted in the console. For servers.',
  },
  clientToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A client token, `st_…`, of `POST /v1/tokens`. For browsers and devices: opens `/v1/listen`, and uploads files if its key has the scope `tokens_may_upload`.',
  },
  queryCredential: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'An API key or a client token, on `/v1/listen` only. Discouraged: URLs are logged.',
  },
  metricsToken: { type: 'http', scheme: 'bearer', description: 'The operator’s token for `/metrics`.' },
};

const SECURITY: Readonly<Record<Operation['security'], readonly Json[]>> = {
  none: [],
  key: [{ apiKey: [] }],
  upload: [{ apiKey: [] }, { clientToken: [] }],
  'key or token': [{ apiKey: [] }, { clientToken: [] }, { queryCredential: [] }],
  metrics: [{ metricsToken: [] }, {}],
};

/** The operations in the order of the documents. */
export const operations: readonly Operation[] = [
  ...speechOperations,
  ...jobOperations,
  ...accountOperations,
  ...webhookOperations,
  ...nodeOperations,
];

export function openapiDocument({ version, providers }: OpenapiOptions): Json {
  const book = new SchemaBook(restSchemas(providers), { ProviderParams });
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: written(operation, book) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Voxgate',
      version,
      summary: 'Speech to text, files and live, at many providers.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    tags: TAGS,
    paths,
    components: { schemas: book.components, headers: HEADERS, securitySchemes: SECURITY_SCHEMES },
  };
}

function written(operation: Operation, book: SchemaBook): Json {
  const { id, tag, summary, description, security, body, answers, errors } = operation;
  const isKeyed = security !== 'none' && security !== 'metrics';
  const parameters = parametersOf(operation, book);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: SECURITY[security],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, book) }),
    responses: {
      ...mapped(answers, (answer) => responseOf(answer, isKeyed, book)),
      ...errorResponses(errors, isKeyed, book),
      default: {
        description: 'Any other refusal.',
        headers: headersOf([]),
        content: { 'application/json': { schema: book.reference('ErrorAnswer') } },
      },
    },
  };
}

function parametersOf({ segments = {}, query, headers = {} }: Operation, book: SchemaBook): Json[] {
  const required: readonly string[] = query?.required ?? [];
  return [
    ...Object.entries(segments).map(([name, { description, example, ...schema }]) => ({
      name,
      in: 'path',
      required: true,
      description,
      schema,
      example,
    })),
    ...Object.entries<TSchema>(query?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      ...queryParameter(schema, book),
    })),
    ...Object.entries(headers).map(([name, header]) => ({ name, in: 'header', required: false, ...header })),
  ];
}

/** An object is sent as JSON; everything else as its text. */
function queryParameter(parameter: TSchema, book: SchemaBook): Json {
  const { description, ...schema } = book.use(parameter);
  const told = description ?? parameter.description;
  const content = { 'application/json': { schema } };
  return parameter.type === 'object' ? { description: told, content } : { description: told, schema };
}

function requestBody({ required, also, ...body }: NonNullable<Operation['body']>, book: SchemaBook): Json {
  const forms = [body, ...(also === undefined ? [] : [also])];
  const content = forms.map(({ type, schema, example }) => {
    const encoding =
      type === 'multipart/form-data' ? { encoding: { provider_params: { contentType: 'application/json' } } } : {};
    return [type, { schema: book.use(schema), ...encoding, example }];
  });
  return { required, content: Object.fromEntries(content) };
}

function responseOf(
  { description, headers = [], forms, isSocket = false }: Answer,
  isKeyed: boolean,
  book: SchemaBook,
): Json {
  const content = mapped(forms, ({ schema, example }) => ({ schema: schemaOf(schema, book), example }));
  return {
    description,
    headers: headersOf([...(isKeyed ? RATE_LIMIT_HEADERS : []), ...headers], !isSocket),
    ...(Object.keys(forms).length === 0 ? {} : { content }),
  };
}

function schemaOf(schema: Form['schema'], book: SchemaBook): Json {
  if (isSeveral(schema)) return { anyOf: schema.map((each) => book.use(each)) };
  if (!isText(schema)) return book.use(schema);
  const { text, events } = schema;
  if (events === undefined) return { type: 'string', description: text };
  return { description: `${text} Each \`data\` is one of these.`, anyOf: events.map((event) => book.use(event)) };
}

const isSeveral = (schema: Form['schema']): schema is readonly TSchema[] => Array.isArray(schema);
const isText = (schema: TSchema | TextForm): schema is TextForm => 'text' in schema;

const mapped = <Value>(members: Readonly<Record<string, Value>>, change: (value: Value) => Json): Json =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]));
