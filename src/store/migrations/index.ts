// The schema's history, oldest first. A database at version n has had the first n of these; none is ever changed again.
import { organisationsAndKeys } from './0001-organisations-and-keys.ts';

export const MIGRATIONS: readonly string[] = [organisationsAndKeys];
