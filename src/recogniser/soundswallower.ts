// Loads the recogniser's WASM module and narrows its types to what is used. Decides nothing about speech.
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import createModule, { type Decoder, type Endpointer, type SoundSwallowerModule } from 'soundswallower';

export type { Decoder, Endpointer, SoundSwallowerModule };

/** The directory of the models inside the package. */
export function modelDirectory(): string {
  return `${dirname(createRequire(import.meta.url).resolve('soundswallower'))}/model/`;
}

/** Instantiates the module. Its own log lines are dropped: they would carry what was said. */
export function loadModule(): Promise<SoundSwallowerModule> {
  const settings = {
    modelBase: modelDirectory(),
    print: () => undefined,
    printErr: () => undefined,
    quit: (_status: number, reason: Error) => {
      throw reason;
    },
  };
  return createModule(settings as Partial<SoundSwallowerModule>);
}
