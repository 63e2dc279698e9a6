import { useSignal } from '@preact/signals';
import { Copyable } from '../../controls/copy.tsx';
import { codeOf, type Language } from './code.ts';
import type { Asked } from './run.ts';

const LANGUAGES: readonly Language[] = ['curl', 'TypeScript', 'Python'];

/** The same call for one's own program. */
export function CodeOf({ asked }: { asked: Asked }) {
  const language = useSignal<Language>('curl');
  return (
    <section class="card">
      <div class="row apart">
        <h2>The same in your program</h2>
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
      <Copyable label="the code" text={codeOf(asked, language.value, location.origin)} />
    </section>
  );
}
