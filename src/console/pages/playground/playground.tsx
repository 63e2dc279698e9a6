// Speak, and see what comes of it: any model, its fallbacks and options, by microphone, sample or file; on one model, or on several
// beside each other.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ModelList } from '../../../api/models.ts';
import { Failure } from '../../controls/notice.tsx';
import { Page, Shown } from '../../controls/page.tsx';
import { useAnswer } from '../../data/answer.ts';
import { CodeOf } from './code-of.tsx';
import { Comparison } from './comparison.tsx';
import { type Asked, createClient, Run } from './run.ts';
import { SetUp } from './set-up.tsx';
import { openMicrophone, play, type Recording, readFile, readSample } from './source.ts';
import { Transcription } from './transcription.tsx';

export function Playground() {
  const models = useAnswer<ModelList>('models?mode=live');
  return (
    <Page
      title="Playground"
      about="What you send here is a session like any other: it is billed, and is seen under Sessions."
    >
      <Shown answer={models}>{({ data }) => <Bench models={data} />}</Shown>
    </Page>
  );
}

function Bench({ models }: { models: ModelList['data'] }) {
  const first = models.find(({ available }) => available)?.id ?? models[0]?.id ?? '';
  const asked = useSignal<Asked>({ model: first, fallbacks: [], language: '', diarization: false, params: {} });
  const others = useSignal<readonly string[]>([]);
  const runs = useSignal<readonly Run[]>([]);
  const level = useSignal(0);
  const failure = useSignal<Error | undefined>(undefined);
  const isBusy = useComputed(() => runs.value.some(({ state }) => state.value !== 'ended'));
  const stop = () => {
    for (const run of runs.peek()) run.stop();
  };
  useEffect(() => stop, []);

  const onLevel = (now: number) => {
    level.value = now;
  };
  const speak = () => {
    const client = createClient();
    const run = new Run(asked.value);
    runs.value = [run];
    void run.go(client, () => openMicrophone(client, onLevel));
  };
  const send = async (reading: Promise<Recording>) => {
    failure.value = undefined;
    try {
      const recording = await reading;
      const all = [asked.value, ...others.value.map((model) => ({ ...asked.value, model, params: {} }))];
      runs.value = all.map((each) => new Run(each));
      const client = createClient();
      for (const run of runs.value) void run.go(client, async () => play(recording, onLevel));
    } catch (error) {
      failure.value = error as Error;
    }
  };
  return (
    <>
      <SetUp models={models} asked={asked} others={others} />
      <section class="card">
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
        </div>
        <meter max={0.4} value={level.value} aria-label="Level" />
        <p class="quiet small">
          A microphone speaks to one model; the sample and files can be heard by several at once.
        </p>
        <Failure of={failure.value} />
      </section>
      {runs.value.length > 1 ? <Comparison runs={runs.value} /> : runs.value.map((run) => <Transcription run={run} />)}
      <CodeOf asked={asked.value} />
    </>
  );
}

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
