// Where OpenAI is reached, and how it is shown the key.
import { bearer, keyCheck, providerApi, withVersion } from '../kit/api.ts';

/** A key belongs to a project, which may belong to a region: https://developers.openai.com/api/docs/guides/data-residency */
export const ENDPOINTS = { names: ['us', 'eu'], oneKey: false } as const;

export const api = providerApi({
  url: ({ fields }) => `https://${fields?.region === undefined ? '' : `${fields.region}.`}api.openai.com`,
  base: withVersion,
  headers: bearer,
});

/**
 * It lists the models to whoever has the key: https://platform.openai.com/docs/api-reference/models/list. A restricted key that
 * may transcribe, and not list models, is refused this request with the same status.
 */
export const credentialCheck = keyCheck(api, '/models', {}, ({ body }) => !/missing scopes/i.test(body));
