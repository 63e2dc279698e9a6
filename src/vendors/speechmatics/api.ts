// Where Speechmatics is reached: a job lives in the region that made it, and a live session where it was opened.
import { bearer, keyCheck, providerApi } from '../kit/api.ts';
import type { ProviderAccess } from '../provider.ts';

/**
 * Files and live sessions have hosts of their own, all of which take every key; `au` hears files only:
 * https://docs.speechmatics.com/administration/regions
 */
export const ENDPOINTS = { names: ['eu', 'us', 'au'], usual: 'eu', oneKey: true } as const;

const regionOf = ({ fields }: ProviderAccess): string => fields?.region ?? 'eu';

export const api = providerApi({
  url: (access) => `https://${regionOf(access)}1.asr.api.speechmatics.com`,
  liveUrl: (access) => `wss://${regionOf(access)}.rt.speechmatics.com`,
  headers: bearer,
});

/** It lists the newest job to whoever has the key: https://docs.speechmatics.com/api-ref/batch/list-jobs */
export const credentialCheck = keyCheck(api, '/v2/jobs', { limit: 1 });
