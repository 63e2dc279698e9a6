// Where Groq is reached, and how it is shown the key.
import { bearer, keyCheck, providerApi } from '../kit/api.ts';

export const api = providerApi({ url: 'https://api.groq.com/openai/v1', headers: bearer });

/** It lists the models to whoever has the key: https://console.groq.com/docs/api-reference#models-list */
export const credentialCheck = keyCheck(api, '/models');
