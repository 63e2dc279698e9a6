// The playground: any model with its fallbacks and options, by microphone, sample or file; one model, or several side by side; and the
// same request as code.
import { useComputed, useSignal } from '@preact/signals';
import type { Voxgate } from '@voxgate/client';
import { useEffect, useRef } from 'preact/hooks';
import type { Model, ModelList } from '../../../api/models.ts';
import { ModelPicker } from '../../controls/model-picker.tsx';
import { Failure, Notice } from '../../controls/notice.tsx';
import { Loaded, Page } from '../../controls/page.tsx';
import { Copyable } from '../../controls/values.tsx';
import { useAnswer } from '../../data/api.ts';
import { AUTO, codeOf, EMPTY_REQUEST, hasLive, type Language, type SessionRequest, type Way } from './code.ts';
import { Comparison } from './comparison.tsx';
import { createClient, Run } from './run.ts';
import { SetUp } from './set-up.tsx';
import { openMicrophone, play, type Recording, readFile, readSample, type Source } from './source.ts';
import { Invitation, Transcription } from './transcription.tsx';

export function Playground() {
  const models = useAnswer<ModelList>('models?mode=live');
  return (
    <Page title="Playground" about="Each run is a session like any other: it is billed and listed under Sessions.">
      <Loaded answer={models}>{({ data }) => <Bench models={data} />}</Loaded>
    </Page>
  );
}

function Bench({ models }: { models: ModelList['data'] }) {
  const first = models.find(({ available }) => available)?.id ?? models[0]?.id ?? '';
  const request = useSignal<SessionRequest>({ ...EMPTY_REQUEST, model: first });
  const others = useSignal<readonly string[]>([]);
  const runs = useSignal<readonly Run[]>([]);
  const level = useSignal(0);
  const failure = useSignal<Error | undefined>(undefined);
  const note = useSignal<string | undefined>(undefined);
  const isBusy = useComputed(() => runs.value.some(({ state }) => state.value !== 'ended'));
  const stop = () => {
    for (const run of runs.peek()) run.stop();
  };
  useEffect(() => stop, []);

  const onLevel = (now: number) => {
    level.value = now;
  };
  const begin = (all: readonly SessionRequest[], open: (client: Voxgate) => Promise<Source>) => {
    runs.value = all.map((each) => new Run(each));
    const client = createClient();
    for (const run of runs.value) void run.go(client, () => open(client)).then(() => onLevel(0));
  };
  const speak = () => {
    note.value = undefined;
    failure.value = undefined;
    begin([request.value], (client) => openMicrophone(client, onLevel));
  };
  const send = async (reading: Promise<Recording>) => {
    failure.value = undefined;
    try {
      const recording = await reading;
      note.value = recording.note;
      const all = [
        request.value,
        ...others.value.map((model) => ({ ...request.value, model, fallbacks: [], providerParams: {} })),
      ];
      begin(all, async () => play(recording, onLevel));
    } catch (error) {
      failure.value = error as Error;
    }
  };
  return (
    <div class="bench">
      <div class="stack">
        <section class="card stage">
          <ModelPicker
            label="Model"
            models={[autoOf(models), ...models]}
            value={request.value.model}
            choose={(model) => {
              request.value = { ...request.value, model, providerParams: {} };
            }}
          />
          <div class="row">
            <button type="button" class="primary" disabled={isBusy.value || others.value.length > 0} onClick={speak}>
              Speak
            </button>
            <button type="button" disabled={isBusy.value} onClick={() => send(readSample())}>
              Play the sample
            </button>
            <FileButton disabled={isBusy.value} chosen={(file) => send(readFile(file))} />
            <button type="button" disabled={!isBusy.value} onClick={stop}>
              Stop
            </button>
            <meter max={0.4} value={level.value} aria-label="Level" />
          </div>
          {others.value.length > 0 ? (
            <p class="quiet small">
              To compare several models, use the sample or a file. The microphone works with one model.
            </p>
          ) : null}
          {note.value === undefined ? null : <Notice tone="quiet">{note.value}</Notice>}
          <Failure of={failure.value} />
        </section>
        {runs.value.length === 0 ? <Invitation /> : null}
        {runs.value.length > 1 ? (
          <Comparison runs={runs.value} models={models} />
        ) : (
          runs.value.map((run) => <Transcription key={run} run={run} />)
        )}
        <RequestCode request={request.value} />
      </div>
      <SetUp models={models} request={request} others={others} />
    </div>
  );
}

/** Stands among the models for the choice of the gateway. */
const autoOf = (models: readonly Model[]): Model => ({
  ...(models[0] as Model),
  id: AUTO,
  name: 'Chosen by the gateway',
  description: 'Automatic: the gateway chooses a model that fits the language and the settings.',
  available: true,
});

function FileButton({ disabled, chosen }: { disabled: boolean; chosen(file: File): void }) {
  const input = useRef<HTMLInputElement>(null);
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file !== undefined && !disabled) chosen(file);
  };
  return (
    <>
      <button
        type="button"
        disabled={disabled}
        onClick={() => input.current?.click()}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          take(event.dataTransfer?.files);
        }}
      >
        Choose or drop a file
      </button>
      <input
        ref={input}
        type="file"
        accept="audio/*,video/webm"
        class="unseen"
        tabIndex={-1}
        aria-label="Audio file"
        onChange={(event) => {
          take(event.currentTarget.files);
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}

const LANGUAGES: readonly Language[] = ['curl', 'TypeScript', 'Python'];

function RequestCode({ request }: { request: SessionRequest }) {
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
      <Copyable label="the code" text={codeOf(request, language.value, way.value, location.origin)} />
      <p class="quiet small">
        {hasLive(language.value)
          ? 'It needs @voxgate/client, and your key in $VOXGATE_KEY.'
          : 'It sends a file, with your key in $VOXGATE_KEY. Live sessions are WebSockets: see TypeScript.'}
      </p>
    </section>
  );
}
