// What is wrong with settings of traces where traces are sent. Without a collector nothing is: these variables may be there for other
// programs, which know more values.
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

export function tracingFaults(tracing: Config['tracing'], field: (place: string) => Field): string[] {
  const { endpoint, tracesEndpoint, protocol, sampler, samplerArg = '1' } = tracing;
  if (endpoint === undefined && tracesEndpoint === undefined) return [];
  const values = [
    ['tracing.protocol', protocol, protocol === 'http/protobuf'],
    ['tracing.sampler', sampler, SAMPLERS.test(sampler)],
    ['tracing.samplerArg', samplerArg, SHARE.test(samplerArg)],
  ] as const;
  return values.flatMap(([place, value, isGood]) =>
    isGood ? [] : `${nameOf(field(place))} is ${shown(value)}; it is ${field(place).accepts}.`,
  );
}
