// Where a vLLM server is reached: wherever its operator says. It asks for a key where it was given one.
import { bearer, providerApi, withVersion } from '../kit/api.ts';

export const api = providerApi({ url: 'http://127.0.0.1:8000', base: withVersion, headers: bearer });
