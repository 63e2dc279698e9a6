import { useSignal } from '@preact/signals';
import { Copyable } from '../../controls/copy.tsx';
import type { Asked } from './asked.ts';
import { codeOf, hasLive, type Language, type Way } from './code.ts';

const LANGUAGES: readonly Language[] = ['curl', 'TypeScript', 'Python'];

/** The same call for one's own program. */
export function CodeOf({ asked }: { asked: Asked }) {
  const language = useSignal<Language>('curl');
  const way = useSignal<Way>('live');
  return (
    <section class="card">
      <div class="row apart">
        <h2>The same in your program</h2>
        <div class="row">
          {hasLive(language.value) ? (
            <select
              aria-label="Live or a file"
              value={way.value}
              onChange={(event) => (way.value = event.currentTarget.value as Way)}
            >
              <option value="live">live</option>
              <option value="file">a file</option>
            </select>
          ) : null}
          <select
            aria-label="Language"
            value={language.value}
            onChange={(event) => (language.value = event.currentTarget.value as Language)}
          >
            {LANGUAGES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </div>
      </div>
      <Copyable label="the code" text={codeOf(asked, language.value, way.value, location.origin)} />
      <p class="quiet small">
        {hasLive(language.value)
          ? 'It takes @voxgate/client, and your key in $VOXGATE_KEY.'
          : 'It sends a file, with your key in $VOXGATE_KEY. Live sessions are WebSockets: see TypeScript.'}
      </p>
    </section>
  );
}
