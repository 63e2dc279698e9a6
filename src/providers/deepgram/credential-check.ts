// Whether Deepgram accepts a key: it tells what a key is to whoever has it
// (https://developers.deepgram.com/guides/fundamentals/authenticating).
import type { CredentialCheck } from '../provider.ts';
import { urlOf } from '../urls.ts';
import { authorization, baseUrlOf } from './endpoint.ts';

export const credentialCheck: CredentialCheck = {
  request: (access) => ({ url: urlOf('http', baseUrlOf(access), '/v1/auth/token'), headers: authorization(access) }),
  verdict: ({ status }) => (status === 200 ? 'accepted' : status === 401 ? 'refused' : 'unknown'),
};
