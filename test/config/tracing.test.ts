// Traces need packages that Voxgate does not install: what a start says without them.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Field } from '../../src/config/fields.ts';
import type { Config } from '../../src/config/schema.ts';
import { TRACING_PACKAGES, tracingFaults } from '../../src/config/together.ts';

const GOOD = { protocol: 'http/protobuf', sampler: 'always_on', disabled: 'false' };
const field = (place: string) => ({ env: place.toUpperCase(), path: place.split('.') }) as Partial<Field> as Field;
const faults = (tracing: Partial<Config['tracing']>, ...missing: readonly string[]) =>
  tracingFaults({ ...GOOD, ...tracing } as Config['tracing'], field, (name) => !missing.includes(name));
const manifest = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));

test.each(Object.keys(TRACING_PACKAGES))(
  'names the command that installs what traces need when %s is missing',
  (name) => {
    expect(faults({ endpoint: 'http://127.0.0.1:4318' }, name)).toEqual([
      'TRACING.ENDPOINT (tracing.endpoint) is set, and the packages that send traces are not installed: run `npm install --no-save @opentelemetry/core@2.12.1 @opentelemetry/exporter-trace-otlp-proto@0.223.1 @opentelemetry/resources@2.12.1 @opentelemetry/sdk-trace@2.12.1`, or unset it.',
    ]);
    expect(faults({ tracesEndpoint: 'http://127.0.0.1:4318' }, name)[0]).toContain('(tracing.tracesEndpoint) is set');
  },
);

test('asks for no package without an endpoint, with traces disabled, or with all of them installed', () => {
  const all = Object.keys(TRACING_PACKAGES);
  expect(faults({}, ...all)).toEqual([]);
  expect(faults({ endpoint: 'http://127.0.0.1:4318', disabled: 'true' }, ...all)).toEqual([]);
  expect(faults({ endpoint: 'http://127.0.0.1:4318' })).toEqual([]);
});

test('names the versions that the package and its tests use', () => {
  const { peerDependencies, peerDependenciesMeta } = manifest('package.json');
  expect(peerDependencies).toEqual(TRACING_PACKAGES);
  expect(Object.keys(peerDependenciesMeta)).toEqual(Object.keys(TRACING_PACKAGES));
  expect(manifest('tools/package.json').dependencies).toMatchObject(TRACING_PACKAGES);
});
