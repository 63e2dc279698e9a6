// One model for files of each provider that has any.
import { PROVIDERS } from '../../failover/protocols.ts';

export const FILE_MODELS: readonly string[] = PROVIDERS.flatMap(
  ({ models }) => models.find(({ modes }) => modes.includes('batch'))?.id ?? [],
);
