// The database that no test has written to yet, made once in a process: all migrations together take eight times as long as its copy.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/store/open-database.ts';

interface Template {
  bytes: Buffer;
  /** Where the identity of the ledger is, behind `led_`. */
  identityAt: number;
}

const IDENTITY_BYTES = 12;
/** What of a database's head says whether it has a log beside it: the versions that write and read it. */
const LOG_AT = 18;
const WITHOUT_LOG = [1, 1];

let made: Template | undefined;

function make(): Template {
  const directory = mkdtempSync(join(tmpdir(), 'voxgate-template-'));
  try {
    const file = join(directory, 'empty.db');
    const database = openDatabase(file);
    const id = database.prepare<[], string>('SELECT id FROM ledger_identity').pluck().get() as string;
    database.close();
    const bytes = readFileSync(file);
    const at = bytes.indexOf(id);
    if (at === -1 || at !== bytes.lastIndexOf(id)) throw new Error('The identity of the ledger is not in one place.');
    return { bytes, identityAt: at + id.indexOf('_') + 1 };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** An empty database at the newest schema, whose ledger is no other's. `isInMemory`: it has no log beside it. */
export function emptyDatabase({ isInMemory = false } = {}): Buffer {
  made ??= make();
  const bytes = Buffer.from(made.bytes);
  bytes.write(randomBytes(IDENTITY_BYTES).toString('hex'), made.identityAt);
  if (isInMemory) bytes.set(WITHOUT_LOG, LOG_AT);
  return bytes;
}
