// What is requested of the model: its fallbacks, its options, and which models get the same audio for comparison.
import type { Signal } from '@preact/signals';
import type { Model } from '../../../api/models.ts';
import { ModelPicker } from '../../controls/model-picker.tsx';
import type { Schema } from '../../data/json-schema.ts';
import type { Asked } from './asked.ts';
import { OptionsForm } from './options-form.tsx';
import { Spoken } from './spoken.tsx';

/** Models beside the first. */
const OTHERS_MAX = 3;

interface SetUpProps {
  models: readonly Model[];
  asked: Signal<Asked>;
  others: Signal<readonly string[]>;
}

export function SetUp({ models, asked, others }: SetUpProps) {
  const set = (part: Partial<Asked>) => {
    asked.value = { ...asked.value, ...part };
  };
  const { model, fallbacks, params } = asked.value;
  const chosen = models.find(({ id }) => id === model);
  const rest = models.filter(({ id }) => id !== model);
  return (
    <section class="card">
      <div class="stack close">
        <Several
          label="Fallbacks, in order"
          all={rest}
          chosen={fallbacks}
          most={8}
          choose={(ids) => set({ fallbacks: ids })}
        />
        <Several
          label="Compare with"
          all={rest}
          chosen={others.value}
          most={OTHERS_MAX}
          choose={(ids) => {
            others.value = ids;
          }}
        />
      </div>
      <details>
        <summary>Language, vocabulary, redaction</summary>
        <Spoken asked={asked.value} set={set} />
      </details>
      {chosen === undefined ? null : (
        <details key={model}>
          <summary>Options of {chosen.name}</summary>
          <OptionsForm
            schema={chosen.provider_params as Schema}
            params={params}
            change={(changed) => set({ params: changed })}
          />
        </details>
      )}
    </section>
  );
}

interface SeveralProps {
  label: string;
  all: readonly Model[];
  chosen: readonly string[];
  most: number;
  choose(ids: string[]): void;
}

/** Chosen one after the other, so that their order is the reader's. */
function Several({ label, all, chosen, most, choose }: SeveralProps) {
  return (
    <div class="field">
      <ModelPicker
        label={label}
        models={all.filter(({ id }) => !chosen.includes(id))}
        value=""
        placeholder={chosen.length === 0 ? 'none' : 'one more'}
        disabled={chosen.length >= most}
        choose={(id) => choose([...chosen, id])}
      />
      {chosen.map((id) => (
        <div class="chosen" key={id}>
          <code class="small">{id}</code>
          <button
            type="button"
            class="plain"
            aria-label={`Remove ${id}`}
            onClick={() => choose(chosen.filter((each) => each !== id))}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
