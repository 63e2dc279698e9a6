// The file of measured accuracies: `voxgate accuracy --keep` writes it, and `VOXGATE_ACCURACY_FILE` names it. Every node reads its own copy at
// its start, and again once it has changed.
import { readFileSync, statSync } from 'node:fs';
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Clock } from '../../machines/clock.ts';
import { accuracyName, MEASURED_UNITS_MIN, MeasuredAccuracy } from '../api/accuracy.ts';
import { ConfigError } from './config-error.ts';

export const ACCURACY_ROWS_MAX = 5_000;
export const ACCURACY_FILE_BYTES_MAX = 2 * 1024 * 1024;
/** So often at most the file is looked at: a change takes effect within 30 seconds. */
const AGAIN_MS = 30_000;

const EXAMPLE =
  '{"measured": [{"model": "deepgram/nova-3", "language": "de", "unit": "words", "units": 5000, "errors": 260, "files": 40, "measured_at": "2026-11-29"}]}';

/** @throws ConfigError without the name of the file */
export function readAccuracies(text: string): MeasuredAccuracy[] {
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new ConfigError(`it is not valid JSON. Write it with \`voxgate accuracy --keep\`; an example is ${EXAMPLE}.`);
  }
  const measured =
    typeof content === 'object' && content !== null ? (content as { measured?: unknown }).measured : null;
  if (!Array.isArray(measured) || measured.length > ACCURACY_ROWS_MAX)
    throw new ConfigError(`it has no list \`measured\` of at most ${ACCURACY_ROWS_MAX} rows, such as ${EXAMPLE}.`);
  for (const [index, row] of measured.entries()) checkRow(row, index);
  return measured as MeasuredAccuracy[];
}

function checkRow(row: unknown, index: number): void {
  if (Value.Check(MeasuredAccuracy, row)) return;
  const [wrong] = Value.Errors(MeasuredAccuracy, row);
  const name = wrong?.path.split('/')[1] ?? '';
  const schema = (MeasuredAccuracy.properties as Readonly<Record<string, TSchema>>)[name];
  const problem =
    schema === undefined
      ? `has a member that is not known, or is not an object`
      : `has no usable \`${name}\`; it is ${String(schema.accepts)}`;
  throw new ConfigError(`row ${index + 1} of \`measured\` ${problem}.`);
}

/**
 * @param readFile gives a file's text or throws
 * @throws ConfigError
 */
export function loadAccuracies(path: string, readFile = readBounded): MeasuredAccuracy[] {
  const named = `VOXGATE_ACCURACY_FILE (session.accuracyFile) names ${JSON.stringify(path)}, which`;
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
    throw new ConfigError(
      `${named} cannot be read (${code}); it is the path of a file that \`voxgate accuracy --keep\` wrote.`,
    );
  }
  try {
    return readAccuracies(text);
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(`${named} cannot be used: ${error.message}`) : error;
  }
}

function readBounded(path: string): string {
  if (statSync(path).size > ACCURACY_FILE_BYTES_MAX) throw Object.assign(new Error('too large'), { code: 'too large' });
  return readFileSync(path, 'utf8');
}

export interface Accuracy extends Pick<MeasuredAccuracy, 'unit' | 'units'> {
  /** Errors for each unit. */
  errorRate: number;
}

/** What is known by now. A file that cannot be used any more changes nothing. */
export class KnownAccuracies {
  readonly #path: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onFault: (error: unknown) => void;
  #rows: ReadonlyMap<string, Accuracy>;
  #lookedMs: number;
  #changedMs: number | undefined;

  /** @throws ConfigError */
  constructor(path: string, clock: Pick<Clock, 'now'>, onFault: (error: unknown) => void) {
    this.#path = path;
    this.#clock = clock;
    this.#onFault = onFault;
    this.#lookedMs = clock.now();
    this.#changedMs = changedMsOf(path);
    this.#rows = byName(loadAccuracies(path));
  }

  /** Undefined where too little was measured for a decision. */
  of(model: string, language: string | null): Accuracy | undefined {
    this.#look();
    return this.#rows.get(accuracyName({ model, language }));
  }

  #look(): void {
    const now = this.#clock.now();
    if (now - this.#lookedMs < AGAIN_MS) return;
    this.#lookedMs = now;
    const changedMs = changedMsOf(this.#path);
    if (changedMs === this.#changedMs) return;
    this.#changedMs = changedMs;
    try {
      this.#rows = byName(loadAccuracies(this.#path));
    } catch (error) {
      this.#onFault(error);
    }
  }
}

function changedMsOf(path: string): number | undefined {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return undefined;
  }
}

const byName = (rows: readonly MeasuredAccuracy[]): ReadonlyMap<string, Accuracy> =>
  new Map(
    rows
      .filter(({ unit, units }) => units >= MEASURED_UNITS_MIN[unit])
      .map((row) => [accuracyName(row), { unit: row.unit, units: row.units, errorRate: row.errors / row.units }]),
  );
