// The part of the declaration that says where traces go, by the standard's own variables.
import { Type } from '@sinclair/typebox';
import { choice, integer, optionalText } from './schema-types.ts';

const SECOND = 1000;

const Url = Type.String({ format: 'public-url', maxLength: 2048 });
const URL_ACCEPTS = 'an http or https URL without user name, query or fragment';
/** As the standard writes them, with `%` for what has a meaning. */
const PAIRS = '^[!-~]+=[ -~]*$';

export const Tracing = Type.Object({
  endpoint: optionalText(Url, {
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    accepts: URL_ACCEPTS,
    description:
      'The OpenTelemetry collector for traces of sessions and files, by OTLP over HTTP. The standard path is appended. Without it, no traces are exported.',
    quotable: false,
  }),
  tracesEndpoint: optionalText(Url, {
    env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    accepts: URL_ACCEPTS,
    description: 'The same, with its whole path.',
    quotable: false,
  }),
  headers: optionalText(Type.String({ pattern: PAIRS, maxLength: 8192 }), {
    env: 'OTEL_EXPORTER_OTLP_HEADERS',
    accepts: 'headers such as `authorization=Bearer%20x,x-scope=y`',
    description: 'Headers for the collector.',
    secret: true,
  }),
  protocol: Type.String({
    default: 'http/protobuf',
    maxLength: 64,
    env: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    accepts: 'http/protobuf',
    description: 'The protocol: only `http/protobuf`.',
  }),
  timeoutMs: integer(
    'OTEL_EXPORTER_OTLP_TIMEOUT',
    100,
    60 * SECOND,
    10 * SECOND,
    'How long the collector may take to answer, including retries.',
  ),
  serviceName: Type.String({
    default: 'voxgate',
    minLength: 1,
    maxLength: 256,
    env: 'OTEL_SERVICE_NAME',
    accepts: 'a text of 1 to 256 characters',
    description: 'Name of this service in the traces.',
  }),
  resourceAttributes: optionalText(Type.String({ pattern: PAIRS, maxLength: 8192 }), {
    env: 'OTEL_RESOURCE_ATTRIBUTES',
    accepts: 'attributes such as `deployment.environment.name=production,team=speech`',
    description: 'Further attributes of this service in its traces.',
  }),
  sampler: Type.String({
    default: 'parentbased_always_on',
    maxLength: 64,
    env: 'OTEL_TRACES_SAMPLER',
    accepts:
      'one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio',
    description:
      'Which traces are kept. A client’s own sampling has no effect, so values with `parentbased_` are the same as those without.',
  }),
  samplerArg: optionalText(Type.String({ maxLength: 1024 }), {
    env: 'OTEL_TRACES_SAMPLER_ARG',
    accepts: 'a number from 0 to 1',
    description: 'The share of traces that `traceidratio` keeps; all of them when absent.',
  }),
  disabled: choice('OTEL_SDK_DISABLED', ['true', 'false'], 'false', 'Turns off traces even if an endpoint is set.'),
  queueMax: integer(
    'OTEL_BSP_MAX_QUEUE_SIZE',
    1,
    1_000_000,
    8192,
    'Spans that may wait for the collector. Further ones are dropped and counted.',
  ),
  batchMax: integer('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 1, 100_000, 512, 'Spans that are sent together.'),
  delayMs: integer('OTEL_BSP_SCHEDULE_DELAY', 10, 60 * SECOND, 5 * SECOND, 'How often spans are sent.'),
});
