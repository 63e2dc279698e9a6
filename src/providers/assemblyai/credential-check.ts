// Whether AssemblyAI accepts a key: it lists the newest transcript of the account to whoever has it
// (https://www.assemblyai.com/docs/api-reference/transcripts/list).
import type { CredentialCheck } from '../provider.ts';
import { urlOf } from '../urls.ts';
import { PUBLIC_URL } from './batch.ts';

export const credentialCheck: CredentialCheck = {
  request: ({ baseUrl, credential }) => ({
    url: urlOf('http', baseUrl ?? PUBLIC_URL, '/v2/transcript', { limit: 1 }),
    // The bare key: with `Bearer` before it, it is refused.
    headers: { authorization: credential ?? '' },
  }),
  verdict: ({ status }) => (status === 200 ? 'accepted' : status === 401 ? 'refused' : 'unknown'),
};
