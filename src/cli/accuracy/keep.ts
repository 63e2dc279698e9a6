// Keeps what was measured in the file that `VOXGATE_ACCURACY_FILE` names: rows of the same model and language are replaced.
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { accuracyName, type MeasuredAccuracy } from '../../api/accuracy.ts';
import { ACCURACY_ROWS_MAX, loadAccuracies } from '../../config/accuracy.ts';
import { CommandError } from '../shared/output.ts';

/** Throws a ConfigError or a CommandError. */
export function keepAccuracies(path: string, measured: readonly MeasuredAccuracy[]): void {
  const names = new Set(measured.map(accuracyName));
  const before = existsSync(path) ? loadAccuracies(path) : [];
  const rows = [...before.filter((row) => !names.has(accuracyName(row))), ...measured];
  if (rows.length > ACCURACY_ROWS_MAX)
    throw new CommandError(`${path} would have ${rows.length} rows; at most ${ACCURACY_ROWS_MAX} are kept.`);
  rows.sort((one, other) => (accuracyName(one) < accuracyName(other) ? -1 : 1));
  const text = rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n');
  // A node that reads it meanwhile finds all of it, or what was there before.
  writeFileSync(`${path}.new`, `{"measured": [\n${text}\n]}\n`);
  renameSync(`${path}.new`, path);
}
