// Opens the traces of a process. The SDK behind them is loaded only where an operator has named a collector.
import type { Tracing, TracingOptions } from './tracing.ts';

/** Undefined where no collector is named: then nothing is loaded. */
export async function openTracing(options: TracingOptions): Promise<Tracing | undefined> {
  const { endpoint, tracesEndpoint, disabled } = options.settings;
  if (disabled === 'true' || (endpoint === undefined && tracesEndpoint === undefined)) return undefined;
  const { SdkTracing } = await import('./sdk-tracing.ts');
  return new SdkTracing(options);
}
