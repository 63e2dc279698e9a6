// One model for files of each provider that has any, and those of the embedded recogniser, which take files and live speech.
import { PROVIDERS } from '../../../live/failover/protocols.ts';

export const FILE_MODELS: readonly string[] = PROVIDERS.flatMap(
  ({ models }) => models.find(({ modes }) => modes.includes('batch'))?.id ?? [],
);

/** They recognise speech, and no numbered samples. */
export const EMBEDDED = [
  {
    slug: 'local/commands-en',
    file: 'commands.wav',
    text: "turn on the kitchen lights set a timer for ten minutes what's the weather tomorrow play some jazz call mom",
    // The last turn alone ends behind it, also for a client that leaves out silence.
    lastWordSeconds: 12,
    wordErrorRateMax: 0,
  },
  {
    slug: 'local/dictation-en',
    file: 'reading.wav',
    text: 'had he married a more amiable woman he might have been made still more respectable than he was he might even have been made amiable himself',
    lastWordSeconds: 8,
    // Clients end turns at other places, and send other rates.
    wordErrorRateMax: 0.1,
  },
] as const;
