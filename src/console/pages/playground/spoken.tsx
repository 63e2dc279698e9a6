// Settings with the same names for every model: languages, vocabulary and redaction.
import type { Redaction } from '../../../api/listen/vocabulary.ts';
import type { Asked } from './asked.ts';

const KINDS: Readonly<Record<Redaction, string>> = {
  pii: 'Personal data',
  pci: 'Card data',
  phi: 'Health data',
  numbers: 'Numbers',
};
const ALL = Object.keys(KINDS) as Redaction[];

interface SpokenProps {
  asked: Asked;
  set(part: Partial<Asked>): void;
}

export function Spoken({ asked, set }: SpokenProps) {
  const { language, languages, diarization, keyterms, vocabularyBoost, prompt, redact } = asked;
  return (
    <div class="stack close">
      <Line
        label="Language"
        value={language}
        placeholder="as the model has it"
        change={(text) => set({ language: text })}
      />
      <Line
        label="Languages that may be spoken, separated by commas"
        value={languages.join(', ')}
        placeholder="none but that"
        change={(text) => set({ languages: listIn(text) })}
      />
      <Line
        label="Names and terms, separated by commas"
        value={keyterms.join(', ')}
        placeholder="none"
        change={(text) => set({ keyterms: listIn(text) })}
      />
      <Line
        label="How much likelier they are, from 0 to 1"
        value={vocabularyBoost === undefined ? '' : String(vocabularyBoost)}
        placeholder="as the model has it"
        change={(text) => set({ vocabularyBoost: boostIn(text) })}
      />
      <Line label="Prompt" value={prompt} placeholder="what is spoken about" change={(text) => set({ prompt: text })} />
      <fieldset>
        <legend>Black out</legend>
        {ALL.map((kind) => (
          <label class="choice" key={kind}>
            <input
              type="checkbox"
              checked={redact.includes(kind)}
              onChange={({ currentTarget: { checked } }) =>
                set({ redact: ALL.filter((each) => (each === kind ? checked : redact.includes(each))) })
              }
            />
            {KINDS[kind]}
          </label>
        ))}
      </fieldset>
      <label class="choice">
        <input
          type="checkbox"
          checked={diarization}
          onChange={(event) => set({ diarization: event.currentTarget.checked })}
        />
        Tell speakers apart
      </label>
    </div>
  );
}

interface LineProps {
  label: string;
  value: string;
  placeholder: string;
  change(text: string): void;
}

const Line = ({ label, value, placeholder, change }: LineProps) => (
  <label class="field">
    {label}
    <input
      defaultValue={value}
      placeholder={placeholder}
      onChange={(event) => change(event.currentTarget.value.trim())}
    />
  </label>
);

const listIn = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** What is no such number is as if nothing stood there. */
function boostIn(text: string): number | undefined {
  const boost = text === '' ? Number.NaN : Number(text);
  return boost >= 0 && boost <= 1 ? boost : undefined;
}
