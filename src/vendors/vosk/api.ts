// Where a Vosk server is reached: at its configured address. It asks for no key; a configured one is for a proxy in front of it.
import { bearer, providerApi } from '../kit/api.ts';

/** Its own port, for a request that was given no address: https://alphacephei.com/vosk/server */
export const api = providerApi({ url: 'ws://localhost:2700', headers: bearer });
