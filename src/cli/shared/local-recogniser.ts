// The embedded recogniser for simulated providers: its built-in commands, or open dictation.
import { Recogniser } from '../../recogniser/recogniser.ts';
import { BUILT_IN_GRAMMARS } from '../../vendors/local/grammars.ts';
import { ENDPOINTING_MS } from '../../vendors/local/models.ts';
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

/** What it recognises: everyday commands, whose text is exact, in English and French; or any English. */
export type Listening = 'commands' | 'dictation';

/** @param env the variables that configure the recogniser */
export function openLocalRecogniser(
  env: Readonly<Record<string, string | undefined>> = process.env,
  listening: Listening = 'commands',
): LocalRecogniser {
  const pool = new Recogniser({
    ...loadSettings(env).recogniser,
    queueBytesMax: QUEUE_BYTES_MAX,
    onFault: (error) => tell(`voxgate: the recogniser failed: ${error.message}`),
  });
  const optionsOf = (language: string | undefined) =>
    listening === 'dictation' ? DICTATION : streamOptions(language?.startsWith('fr') ? 'fr' : 'en');
  const ear = engineEar(pool, ({ language }) => optionsOf(language));
  return { ear, warmUp: () => warmUp(pool, optionsOf(undefined)), close: () => pool.close() };
}

const DICTATION = {
  interims: true,
  task: { kind: 'dictation', model: 'dictation-en', endpointingMs: ENDPOINTING_MS },
};

const streamOptions = (language: 'en' | 'fr') => ({
  language,
  interims: true,
  task: { kind: 'grammar', text: BUILT_IN_GRAMMARS.get(`commands-${language}`), builtIn: true },
});

function warmUp(pool: Recogniser, options: Readonly<Record<string, unknown>>): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = pool.connect(options, {
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
