// The embedded recogniser with its built-in commands, as what a simulated provider hears with.

import { RecogniserPool } from '../../recogniser/threads/pool.ts';
import { BUILT_IN_GRAMMARS } from '../../vendors/local/grammars/index.ts';
import { type EarSource, engineEar } from '../../vendors/simulation/ears.ts';
import { tell } from '../shared/output.ts';
import { loadSettings } from '../shared/settings.ts';

/** Audio of one stream that may wait for the recogniser: eight minutes, since providers take audio faster than it is spoken. */
const QUEUE_BYTES_MAX = 16 * 1024 * 1024;

export interface LocalRecogniser {
  ear: EarSource;
  /** Resolves when the recogniser has its model in memory, so that the first words are heard as they are said. */
  warmUp(): Promise<void>;
  close(): Promise<void>;
}

/** @param env the variables that configure the recogniser */
export function openLocalRecogniser(env: Readonly<Record<string, string | undefined>> = process.env): LocalRecogniser {
  const pool = new RecogniserPool({
    ...loadSettings(env).recogniser,
    queueBytesMax: QUEUE_BYTES_MAX,
    onFault: (error) => tell(`voxgate: the recogniser failed: ${error.message}`),
  });
  const ear = engineEar(pool, ({ language }) => hearing(language?.startsWith('fr') ? 'fr' : 'en'));
  return { ear, warmUp: () => warmUp(pool), close: () => pool.close() };
}

const hearing = (language: 'en' | 'fr') => ({
  language,
  interims: true,
  task: { kind: 'grammar', text: BUILT_IN_GRAMMARS.get(`commands-${language}`), builtIn: true },
});

function warmUp(pool: RecogniserPool): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = pool.connect(hearing('en'), {
      open: () => {},
      message: () => {
        stream.terminate();
        resolve();
      },
      drained: () => {},
      closed: (_code, reason) => reject(new Error(`The embedded recogniser did not start: ${reason}`)),
    });
  });
}
