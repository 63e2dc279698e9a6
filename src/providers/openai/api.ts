// Where OpenAI is reached, and how it is shown the key.
import { bearer, keyCheck, providerApi } from '../kit/api.ts';

export const api = providerApi({
  url: 'https://api.openai.com',
  // A configured base counts with and without its last `/v1`, as both are in use.
  base: (configured) => `${configured.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`,
  headers: bearer,
});

/**
 * It lists the models to whoever has the key: https://platform.openai.com/docs/api-reference/models/list. A restricted key that
 * may transcribe, and not list models, is refused this request with the same status.
 */
export const credentialCheck = keyCheck(api, '/models', {}, ({ body }) => !/missing scopes/i.test(body));
