// Where AssemblyAI is reached, and how it is shown the key.
import { keyCheck, providerApi } from '../kit/api.ts';

export const api = providerApi({
  url: 'https://api.assemblyai.com',
  liveUrl: 'wss://streaming.assemblyai.com',
  // The bare key: with `Bearer` before it, it is refused.
  headers: (credential) => ({ authorization: credential }),
});

/**
 * It lists the newest transcript of the account to whoever has the key:
 * https://www.assemblyai.com/docs/api-reference/transcripts/list
 */
export const credentialCheck = keyCheck(api, '/v2/transcript', { limit: 1 });
