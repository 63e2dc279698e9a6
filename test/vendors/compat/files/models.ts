// One model for files of each provider that has any, and that of the embedded recogniser, which hears files and live speech.
import { PROVIDERS } from '../../../live/failover/protocols.ts';

export const FILE_MODELS: readonly string[] = PROVIDERS.flatMap(
  ({ models }) => models.find(({ modes }) => modes.includes('batch'))?.id ?? [],
);

/** It hears speech, and no numbers. */
export const EMBEDDED = 'local/commands-en';
