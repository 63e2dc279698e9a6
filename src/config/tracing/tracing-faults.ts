// What is wrong with settings of traces where traces are sent. Without a collector nothing is: these variables may be there for other
// programs, which know more values.
import { createRequire } from 'node:module';
import { nameOf, shown } from '../config-error.ts';
import type { Field } from '../fields.ts';
import type { Config } from '../schema.ts';

export const TRACING = [
  'tracing.endpoint',
  'tracing.tracesEndpoint',
  'tracing.protocol',
  'tracing.sampler',
  'tracing.samplerArg',
] as const;

const SAMPLERS = /^(parentbased_)?(always_on|always_off|traceidratio)$/;
/** From 0 to 1. */
const SHARE = /^(0(\.\d+)?|1(\.0+)?|\.\d+)$/;

/** What sends traces is not installed with Voxgate: most gateways need none of its 20 MB. As `package.json` names it. */
export const TRACING_PACKAGES: Readonly<Record<string, string>> = {
  '@opentelemetry/core': '2.12.1',
  '@opentelemetry/exporter-trace-otlp-proto': '0.223.1',
  '@opentelemetry/resources': '2.12.1',
  '@opentelemetry/sdk-trace': '2.12.1',
};

const require = createRequire(import.meta.url);

function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** @param has whether a package is installed */
export function tracingFaults(
  tracing: Config['tracing'],
  field: (place: string) => Field,
  has: (name: string) => boolean = isInstalled,
): string[] {
  const { endpoint, tracesEndpoint, protocol, sampler, samplerArg = '1' } = tracing;
  if (endpoint === undefined && tracesEndpoint === undefined) return [];
  const values = [
    ['tracing.protocol', protocol, protocol === 'http/protobuf'],
    ['tracing.sampler', sampler, SAMPLERS.test(sampler)],
    ['tracing.samplerArg', samplerArg, SHARE.test(samplerArg)],
  ] as const;
  const wrong = values.flatMap(([place, value, isGood]) =>
    isGood ? [] : `${nameOf(field(place))} is ${shown(value)}; it is ${field(place).accepts}.`,
  );
  return [...wrong, ...missingPackages(tracing, field, has)];
}

function missingPackages(
  { endpoint, disabled }: Config['tracing'],
  field: (place: string) => Field,
  has: (name: string) => boolean,
): string[] {
  if (disabled === 'true' || Object.keys(TRACING_PACKAGES).every(has)) return [];
  const place = endpoint === undefined ? 'tracing.tracesEndpoint' : 'tracing.endpoint';
  const packages = Object.entries(TRACING_PACKAGES).map(([name, version]) => `${name}@${version}`);
  return [
    `${nameOf(field(place))} is set, and the packages that send traces are not installed: run \`npm install --no-save ${packages.join(' ')}\`, or unset it.`,
  ];
}
