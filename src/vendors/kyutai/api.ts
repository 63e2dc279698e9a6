// Where a moshi-server is reached: at its configured address, with one of the ids that its own configuration lists.
import { providerApi } from '../kit/api.ts';

/** Of its sample configurations, for a server whose operator gave it no other. */
const SAMPLE_ID = 'public_token';
const named = (id: string) => ({ 'kyutai-api-key': id });

const server = providerApi({ url: 'ws://localhost:8080', headers: named });

export const api: typeof server = {
  ...server,
  headers: (access) => (access.credential === undefined ? named(SAMPLE_ID) : server.headers(access)),
};
