// Where Mistral is reached, and how it is shown the key.
import { bearer, keyCheck, providerApi, withVersion } from '../kit/api.ts';

/** Audio is heard anywhere, but at an endpoint of a region, which costs a tenth more: https://docs.mistral.ai/inference/regional-inference */
export const ENDPOINTS = { names: ['eu'], oneKey: false } as const;

export const api = providerApi({
  url: ({ fields }) => `https://api.${fields?.region === undefined ? '' : `${fields.region}.`}mistral.ai`,
  base: withVersion,
  headers: bearer,
});

/** It lists the models to whoever has the key: https://docs.mistral.ai/api/endpoint/models */
export const credentialCheck = keyCheck(api, '/models');
