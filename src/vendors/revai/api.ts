// Where Rev AI is reached: a token belongs to one of two deployments. It is shown in a header, live as well, so that no URL holds it.
import { bearer, keyCheck, providerApi } from '../kit/api.ts';

/** https://docs.rev.ai/api/global-deployments */
export const ENDPOINTS = { names: ['us', 'eu'], usual: 'us', oneKey: false } as const;
export const ROOT = '/speechtotext/v1';

export const api = providerApi({
  url: ({ fields }) => `https://${fields?.region === 'eu' ? 'ec1.' : ''}api.rev.ai`,
  headers: bearer,
});

/** It shows the account to whoever has the token: https://docs.rev.ai/api/asynchronous/reference/#tag/Account */
export const credentialCheck = keyCheck(api, `${ROOT}/account`);
