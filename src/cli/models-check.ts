// `voxgate models check`: a speech model of the operator's own, opened and tried before a gateway uses it.
import { fileURLToPath } from 'node:url';
import { readOneModel } from '../config/local-models.ts';
import { type Trial, tryModel } from '../recogniser/dictation/trial.ts';
import { SAMPLE_RATE } from '../recogniser/protocol.ts';
import { systemClock } from '../runtime/telemetry/clock.ts';
import { speechModelsFolder } from '../runtime/telemetry/worker-file.ts';
import type { LocalModel } from '../vendors/local/own-model.ts';
import { readArguments } from './shared/command.ts';
import { CommandError, EXIT, print, tell, UsageError } from './shared/output.ts';
import { requireReadable } from './shared/values.ts';
import { samplesOf } from './transcribe/live.ts';

/** Longer ones say no more of a model, and a live stream takes as long as its audio. */
const SECONDS_MAX = 60;

export async function checkModel(usage: string, args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments({ usage, operandsMax: 1 }, args, {
    file: { type: 'string' },
    json: { type: 'boolean' },
  });
  const [folder] = positionals;
  if (folder === undefined) throw new UsageError('name the folder of a model.', usage);
  const model = read(folder);
  const file = values.file ?? fileURLToPath(new URL('sample.wav', speechModelsFolder()));
  requireReadable(file, 'an audio file');
  const audio = await samplesOf(file, SAMPLE_RATE, '--file');
  const trial = await tried(model, audio.subarray(0, SECONDS_MAX * 2 * SAMPLE_RATE));
  if (values.json) print(JSON.stringify(trial, null, 2));
  else printTrial(model, trial);
  if (trial.text !== '') return EXIT.ok;
  const others =
    values.file === undefined ? ' The sample is English: give a recording in its language with --file.' : '';
  throw new CommandError(`the model in ${model.folder} was opened, and found no words in the recording.${others}`);
}

function read(folder: string): LocalModel {
  try {
    return readOneModel(folder);
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

async function tried(model: LocalModel, audio: Uint8Array): Promise<Trial> {
  try {
    return await tryModel(model, { audio, modes: model.modes, clock: systemClock });
  } catch (error) {
    const what = (error as Error).message.replace(/[.\s]+$/, '');
    throw new CommandError(
      `the model in ${model.folder} cannot be used: ${what}. Check \`kind\` in its model.json, and its files.`,
    );
  }
}

function printTrial({ model, modes, languages }: LocalModel, trial: Trial): void {
  const { text, loadMs, memoryBytes, audioSeconds, file, live } = trial;
  const off = 'off, as model.json declares';
  if (text !== '') print(text);
  tell(`kind       ${model.kind}, ${languages.join(', ')}`);
  tell(`load time  ${(loadMs / 1000).toFixed(1)} s`);
  if (memoryBytes !== undefined) tell(`memory     ${Math.round(memoryBytes / 1e6)} MB`);
  const speed =
    file === undefined ? '' : `real-time factor ${file.realTimeFactor.toFixed(3)} for ${audioSeconds.toFixed(1)} s`;
  tell(`files      ${modes.includes('batch') ? `work, ${speed}` : off}`);
  const delay =
    live?.finalMsMax === undefined ? '' : `, finals ${Math.round(live.finalMsMax)} ms after the voice at most`;
  const interims = live === undefined ? '' : `${live.interims} interims${delay}`;
  tell(`live       ${modes.includes('live') ? `works, ${interims}` : off}`);
}
