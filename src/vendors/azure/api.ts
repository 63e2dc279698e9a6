// Where Azure's speech resource is reached: by its region, or by its own domain. The key goes in a header alone; the official client
// writes it into the URL as well.
import { keyCheck, providerApi } from '../kit/api.ts';
import type { ProviderAccess } from '../kit/provider.ts';

/** Azure's regions by where they are, https://learn.microsoft.com/azure/ai-services/speech-service/regions */
export const REGIONS = {
  us: [
    'eastus',
    'eastus2',
    'centralus',
    'northcentralus',
    'southcentralus',
    'westcentralus',
    'westus',
    'westus2',
    'westus3',
  ],
  eu: ['westeurope', 'northeurope', 'francecentral', 'germanywestcentral', 'italynorth', 'swedencentral'],
  ...{ ch: ['switzerlandnorth', 'switzerlandwest'], no: ['norwayeast'], uk: ['uksouth', 'ukwest'] },
  ...{ ca: ['canadacentral'], br: ['brazilsouth'], in: ['centralindia'], jp: ['japaneast', 'japanwest'] },
  ...{ kr: ['koreacentral'], sg: ['southeastasia'], au: ['australiaeast'], za: ['southafricanorth'], ae: ['uaenorth'] },
} as const;
const REGION = 'eastus';
/** A key is of one resource, which is in one region. */
export const ENDPOINTS = { names: Object.values(REGIONS).flat(), usual: REGION, oneKey: false } as const;
const API_VERSION = '2025-10-15';

const domainOf = (region: string): string =>
  region.startsWith('china') ? 'azure.cn' : region.startsWith('usgov') ? 'azure.us' : 'microsoft.com';

const hostOf = ({ fields = {} }: ProviderAccess, service: 'stt.speech' | 'api.cognitive'): string => {
  const { region = REGION, resource } = fields;
  if (resource === undefined) return `https://${region}.${service}.${domainOf(region)}`;
  // Behind a domain of its own live sessions have a path of their own.
  return `https://${resource}.cognitiveservices.azure.com${service === 'stt.speech' ? '/stt' : ''}`;
};

export const api = providerApi({
  url: (access) => hostOf(access, 'api.cognitive'),
  liveUrl: (access) => hostOf(access, 'stt.speech'),
  headers: (credential, { fields }) => ({ 'Ocp-Apim-Subscription-Key': fields?.key ?? credential }),
});

/** https://learn.microsoft.com/azure/ai-services/speech-service/fast-transcription-create */
export const TRANSCRIBE = `/speechtotext/transcriptions:transcribe?api-version=${API_VERSION}`;

/** The locales that are spoken: https://learn.microsoft.com/rest/api/speechtotext/transcriptions/list-supported-locales */
export const credentialCheck = keyCheck(api, '/speechtotext/transcriptions/locales', { 'api-version': API_VERSION });
