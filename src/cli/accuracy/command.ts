// `voxgate accuracy DIR --models A,B`: how often each model is wrong, on an operator's own recordings. Each file goes through a gateway as any
// client would send it.
import { type AccuracyUnit, languageOf, MEASURED_UNITS_MIN, type MeasuredAccuracy } from '../../api/accuracy.ts';
import { isSlug } from '../../api/slug.ts';
import { type Command, readArguments } from '../shared/command.ts';
import { CommandError, EXIT, print, printTable, tell, UsageError } from '../shared/output.ts';
import { requireWritable } from '../shared/values.ts';
import type { Target } from '../transcribe/live.ts';
import { StatusLine } from '../transcribe/progress.ts';
import { answerOf, sendFile, targetOf, withOwnGateway } from '../transcribe/send.ts';
import { keepAccuracies } from './keep.ts';
import { type Recording, recordingsIn } from './recordings.ts';
import { type Errors, errorsBetween, intervalOf, totalOf, UNITS_MAX, unitFor, unitsOf } from './score.ts';

const MODELS_MAX = 20;
/** Files on the way to one model at a time. */
const PARALLEL = 4;
/** Each is told, up to this number for each model. */
const FAILURES_TOLD_MAX = 3;
const LANGUAGE = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/;

const usage = `Usage: voxgate accuracy DIR --models SLUG,SLUG [--language TAG]
                        [--json] [--keep FILE] [--quiet]
                        [--url URL --key KEY]

Measures the word error rate of models on your own recordings: substituted,
inserted and deleted words, divided by the number of words said. DIR has audio
files, and for each a .txt with what is actually said: call.mp3, call.txt. Each
file is transcribed with each model, at the usual price. Case and punctuation
do not count. Languages without spaces are compared by character. The interval
holds for 95 of 100 such sets of files.

  --models     slugs separated by commas, at most 20
  --language   the language of all files, as a BCP-47 tag: de. It is sent with
               each file. Run the command once for each language
  --keep       writes the rates to a file, which VOXGATE_ACCURACY_FILE names
               on each node, for prefer=accuracy. Rows of the same model and
               language are replaced. A model is left out if it has fewer than
               500 words (1000 characters) or a failed file
  --json       prints JSON
  --quiet      hides the progress, which only a terminal shows
  --url        a running gateway; --key or VOXGATE_KEY is its API key.
               Without --url, a gateway is started for this command`;

export const accuracy: Command = {
  usage,
  async run(args) {
    const { values, positionals } = readArguments({ usage, operandsMax: Number.POSITIVE_INFINITY }, args, {
      models: { type: 'string' },
      language: { type: 'string' },
      json: { type: 'boolean' },
      keep: { type: 'string' },
      quiet: { type: 'boolean' },
      url: { type: 'string' },
      key: { type: 'string' },
    });
    const [directory] = positionals;
    if (directory === undefined || positionals.length > 1) throw new UsageError('name one folder.', usage);
    const models = modelsIn(values.models);
    const { language } = values;
    if (language !== undefined && !LANGUAGE.test(language))
      throw new CommandError('--language takes a BCP-47 tag, such as de.', EXIT.usage);
    const target = targetOf(values);
    if (values.keep !== undefined) requireWritable(values.keep);
    const { recordings, alone } = recordingsIn(directory);
    for (const name of alone.slice(0, FAILURES_TOLD_MAX)) tell(`warning: ${name} has no counterpart and is left out.`);
    const unit = unitFor(
      languageOf(language),
      recordings.map(({ reference }) => reference),
    );
    const task = { recordings, language, unit, line: new StatusLine({ isQuiet: values.quiet ?? false }) };
    const work = async (to: Target): Promise<number> => {
      const measures: Measure[] = [];
      for (const model of models) measures.push(await measureOf(model, task, to));
      task.line.clear();
      show(measures, task, values.json ?? false);
      if (values.keep !== undefined) keep(values.keep, measures, task);
      return measures.every(({ files }) => files.length > 0) ? EXIT.ok : EXIT.failed;
    };
    return target === undefined ? withOwnGateway(work) : work(target);
  },
};

function modelsIn(text = ''): string[] {
  const models = text.split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
  const wrong = models.find((model) => !isSlug(model));
  if (models.length === 0 || wrong !== undefined)
    throw new UsageError('--models takes slugs separated by commas, such as deepgram/nova-3,openai/whisper-1.', usage);
  if (models.length > MODELS_MAX || new Set(models).size < models.length)
    throw new CommandError(`--models takes at most ${MODELS_MAX} models, each once.`, EXIT.usage);
  return models;
}

interface Task {
  recordings: readonly Recording[];
  language: string | undefined;
  unit: AccuracyUnit;
  line: StatusLine;
}

interface Measured {
  errors: Errors;
  units: number;
}

interface Measure {
  model: string;
  files: readonly Measured[];
  failed: number;
}

async function measureOf(model: string, { recordings, language, unit, line }: Task, target: Target): Promise<Measure> {
  const waiting = [...recordings];
  const files: Measured[] = [];
  let failed = 0;
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { file, reference } = next;
      const wanted = unitsOf(reference, unit);
      if (wanted.length > UNITS_MAX)
        throw new CommandError(
          `the text of ${file} has ${wanted.length} ${unit}; at most ${UNITS_MAX} are compared. Split it.`,
        );
      line.show(`${model}: ${recordings.length - waiting.length} of ${recordings.length}`);
      const heard = await heardIn(file, model, language, target);
      if (typeof heard === 'string')
        files.push({ errors: errorsBetween(wanted, unitsOf(heard, unit)), units: wanted.length });
      else {
        failed++;
        if (failed <= FAILURES_TOLD_MAX) tell(`warning: ${model} failed with ${file}: ${heard.why}`);
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return { model, files, failed };
}

async function heardIn(
  file: string,
  model: string,
  language: string | undefined,
  target: Target,
): Promise<string | { why: string }> {
  const { response, text } = await sendFile(target, file, { model, response_format: 'verbose_json', language });
  const { error, text: heard, model: by } = answerOf(text);
  if (!response.ok) return { why: error?.message ?? `the gateway answered HTTP ${response.status}.` };
  // The operator's last resort, say.
  if (heard === undefined || by !== model) return { why: `${by ?? 'another model'} answered in its place.` };
  return heard;
}

function figuresOf({ model, files, failed }: Measure) {
  const sum = (count: (file: Measured) => number) => files.reduce((total, file) => total + count(file), 0);
  const units = sum((file) => file.units);
  const errors = sum((file) => totalOf(file.errors));
  const interval = intervalOf(files.map((file) => ({ errors: totalOf(file.errors), units: file.units })));
  return {
    model,
    error_rate: units === 0 ? null : rounded(errors / units),
    interval: interval === undefined ? null : interval.map(rounded),
    errors,
    substitutions: sum((file) => file.errors.substitutions),
    insertions: sum((file) => file.errors.insertions),
    deletions: sum((file) => file.errors.deletions),
    units,
    files: files.length,
    failed,
  };
}

const rounded = (rate: number): number => Math.round(rate * 100_000) / 100_000;
const percent = (rate: number): string => `${(rate * 100).toFixed(1)} %`;

function show(
  measures: readonly Measure[],
  { language = null, unit }: Pick<Task, 'unit'> & { language?: string | null | undefined },
  isJson: boolean,
): void {
  const rows = measures.map(figuresOf);
  if (isJson) {
    print(JSON.stringify({ language, unit, models: rows }));
    return;
  }
  printTable([
    [
      'MODEL',
      'LANGUAGE',
      'ERRORS',
      '95 % INTERVAL',
      'SUBSTITUTED',
      'INSERTED',
      'DELETED',
      unit.toUpperCase(),
      'FILES',
      'FAILED',
    ],
    ...rows.map((row) => [
      row.model,
      language ?? '-',
      row.error_rate === null ? '-' : percent(row.error_rate),
      row.interval === null ? '-' : row.interval.map(percent).join(' to '),
      ...[row.substitutions, row.insertions, row.deletions, row.units, row.files, row.failed].map(String),
    ]),
  ]);
  const least = Math.min(...rows.map(({ units }) => units));
  if (least < MEASURED_UNITS_MIN[unit])
    tell(`note: ${least} ${unit} are too few to compare models. Use at least ${MEASURED_UNITS_MIN[unit]}.`);
}

function keep(path: string, measures: readonly Measure[], { language, unit }: Task): void {
  const rows: MeasuredAccuracy[] = [];
  for (const { model, units, errors, files, failed } of measures.map(figuresOf)) {
    if (failed > 0) tell(`${model} is not kept: ${failed} files failed, and others were measured on more.`);
    else if (units < MEASURED_UNITS_MIN[unit])
      tell(`${model} is not kept: ${units} ${unit} were compared, and ${MEASURED_UNITS_MIN[unit]} are needed.`);
    else
      rows.push({
        ...{ model, language: languageOf(language), unit, units, errors, files },
        measured_at: new Date().toISOString(),
      });
  }
  if (rows.length > 0) keepAccuracies(path, rows);
  tell(
    `${rows.length} of ${measures.length} models kept in ${path}. VOXGATE_ACCURACY_FILE names this file on each node.`,
  );
}
