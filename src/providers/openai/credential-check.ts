// Whether OpenAI accepts a key: it lists the models to whoever has it (https://platform.openai.com/docs/api-reference/models/list).
import type { CredentialCheck } from '../provider.ts';
import { urlOf } from '../urls.ts';
import { apiBase } from './urls.ts';

export const credentialCheck: CredentialCheck = {
  request: ({ baseUrl, credential }) => ({
    url: urlOf('http', apiBase(baseUrl), '/models'),
    headers: { authorization: `Bearer ${credential ?? ''}` },
  }),
  verdict: ({ status, body }) => {
    if (status === 200) return 'accepted';
    // A restricted key that may transcribe, and not list models, is refused this request with the same status.
    return status === 401 && !/missing scopes/i.test(body) ? 'refused' : 'unknown';
  },
};
