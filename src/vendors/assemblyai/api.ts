// Where AssemblyAI is reached, and how it is shown the key.
import { keyCheck, providerApi } from '../kit/api.ts';

/**
 * They take every key; files go to the US where nothing is said, live audio to the nearest:
 * https://www.assemblyai.com/docs/streaming/endpoints-and-data-zones
 */
export const ENDPOINTS = { names: ['us', 'eu'], oneKey: true } as const;

export const api = providerApi({
  url: ({ fields }) => `https://api.${fields?.region === 'eu' ? 'eu.' : ''}assemblyai.com`,
  liveUrl: ({ fields }) => `wss://streaming.${fields?.region === undefined ? '' : `${fields.region}.`}assemblyai.com`,
  // The bare key: with `Bearer` before it, it is refused.
  headers: (credential) => ({ authorization: credential }),
});

/**
 * It lists the newest transcript of the account to whoever has the key:
 * https://www.assemblyai.com/docs/api-reference/transcripts/list
 */
export const credentialCheck = keyCheck(api, '/v2/transcript', { limit: 1 });
