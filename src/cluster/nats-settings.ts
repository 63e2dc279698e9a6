// How the settings of a node say which NATS servers it shares with others.

import type { Config } from '../config/schema.ts';
import { natsUrlsOf } from '../config/schema-cluster.ts';
import type { NatsBusOptions } from './bus/nats/bus.ts';

/** Undefined when no server is configured. */
export function natsOptionsOf(cluster: Config['cluster']): Omit<NatsBusOptions, 'secrets'> | undefined {
  if (cluster.nats === undefined) return undefined;
  return {
    servers: natsUrlsOf(cluster.nats) ?? [],
    user: cluster.natsUser,
    password: cluster.natsPassword,
    credentialsFile: cluster.natsCredentialsFile,
    caFile: cluster.natsCaFile,
    certFile: cluster.natsCertFile,
    keyFile: cluster.natsKeyFile,
    prefix: cluster.natsPrefix,
    startMs: cluster.natsStartMs,
    missing: cluster.natsMissing,
  };
}
