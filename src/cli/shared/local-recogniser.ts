// The embedded recogniser with its built-in commands, for simulated providers.
import { Recogniser } from '../../recogniser/recogniser.ts';
import { BUILT_IN_GRAMMARS } from '../../vendors/local/grammars.ts';
import { type EarSource, engineEar } from '../../vendors/simulation/ears.ts';
import { tell } from './output.ts';
import { loadSettings } from './settings.ts';

/** Audio of one stream that may wait for the recogniser: eight minutes, since providers take audio faster than it is spoken. */
const QUEUE_BYTES_MAX = 16 * 1024 * 1024;

export interface LocalRecogniser {
  ear: EarSource;
  /** Resolves when the recogniser has its model in memory, so that the first words are recognised in time. */
  warmUp(): Promise<void>;
  close(): Promise<void>;
}

/** @param env the variables that configure the recogniser */
export function openLocalRecogniser(env: Readonly<Record<string, string | undefined>> = process.env): LocalRecogniser {
  const pool = new Recogniser({
    ...loadSettings(env).recogniser,
    queueBytesMax: QUEUE_BYTES_MAX,
    onFault: (error) => tell(`voxgate: the recogniser failed: ${error.message}`),
  });
  const ear = engineEar(pool, ({ language }) => streamOptions(language?.startsWith('fr') ? 'fr' : 'en'));
  return { ear, warmUp: () => warmUp(pool), close: () => pool.close() };
}

const streamOptions = (language: 'en' | 'fr') => ({
  language,
  interims: true,
  task: { kind: 'grammar', text: BUILT_IN_GRAMMARS.get(`commands-${language}`), builtIn: true },
});

function warmUp(pool: Recogniser): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = pool.connect(streamOptions('en'), {
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
