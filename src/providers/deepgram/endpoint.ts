// Where Deepgram is reached, and how a request shows its key.
import type { ProviderAccess } from '../provider.ts';

const PUBLIC_URL = 'https://api.deepgram.com';

export const baseUrlOf = ({ baseUrl }: ProviderAccess): string => baseUrl ?? PUBLIC_URL;

export const authorization = ({ credential }: ProviderAccess): { authorization: string } => ({
  authorization: `Token ${credential ?? ''}`,
});
