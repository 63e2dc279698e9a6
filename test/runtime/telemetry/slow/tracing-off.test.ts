// Without a collector nothing of the tracing SDK is loaded.
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../../src/index.ts';
import { startLiveGateway } from '../../../fakes/processes/live-gateway.ts';

/** Files of the SDK. Its types alone are loaded by the test runner as well. */
const loaded = () =>
  Object.keys(createRequire(import.meta.url).cache).filter((path) => /@opentelemetry\/(sdk|exporter|otlp)-/.test(path))
    .length;

test('loads the tracing SDK only where a collector is named', async () => {
  await startLiveGateway({ OTEL_TRACES_SAMPLER: 'xray', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
  await startLiveGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' });
  expect(loaded()).toBe(0);
  await startLiveGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  expect(loaded()).toBeGreaterThan(0);
});

test.each([
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'http/protobuf'],
  ['OTEL_TRACES_SAMPLER', 'xray', 'one of always_on'],
  ['OTEL_TRACES_SAMPLER_ARG', '2', 'a number from 0 to 1'],
])('refuses %s=%s with a collector, and lists what is accepted', (name, value, accepted) => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', [name]: value };
  expect(() => loadConfig(env, { providers: [] })).toThrow(new RegExp(`${name} .*"${value}"; it is ${accepted}`));
});
