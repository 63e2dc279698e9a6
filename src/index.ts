// The public surface for embedding a gateway in another program. Everything else is internal.
export { ConfigError } from './config/config-error.ts';
export { loadConfig } from './config/load.ts';
export type { Config } from './config/schema.ts';
export { type Gateway, type GatewayOptions, startGateway } from './node/gateway.ts';
export { createLogger } from './runtime/telemetry/log.ts';
