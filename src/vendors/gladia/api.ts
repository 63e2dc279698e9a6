// Where Gladia is reached, and how it is shown the key. A live session is asked for there, and has a WebSocket of its own.
import { keyCheck, providerApi } from '../kit/api.ts';

/** Where a live session may be held: https://docs.gladia.io/api-reference/v2/live/init */
export const ENDPOINTS = { names: ['eu-west', 'us-west'], oneKey: true } as const;

export const api = providerApi({
  url: 'https://api.gladia.io',
  headers: (credential) => ({ 'x-gladia-key': credential }),
});

/** It lists the newest file to whoever has the key: https://docs.gladia.io/api-reference/v2/pre-recorded/list */
export const credentialCheck = keyCheck(api, '/v2/pre-recorded', { limit: 1 });
