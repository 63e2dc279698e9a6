// Where Fireworks is reached: files at a host of their own, and the list that tries a key at the one of its language models.
import { bearer, keyCheck, providerApi } from '../kit/api.ts';

export const api = providerApi({ url: 'https://audio-turbo.api.fireworks.ai/v1', headers: bearer });

const inference = providerApi({ url: 'https://api.fireworks.ai/inference/v1', headers: bearer });

/** It lists the models to whoever has the key, and says nothing of audio: https://docs.fireworks.ai/api-reference/list-models */
export const credentialCheck = keyCheck(inference, '/models');
