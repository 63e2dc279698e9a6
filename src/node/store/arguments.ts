// Checks the arguments of a call from a node without the database, and finds the organisation that they name.
import type { Naming } from '../../store/operation.ts';

/** Whether arguments are of the kinds that a call has: what is in objects and lists is for the tables to say. */
export function haveKinds(args: readonly unknown[], kinds: readonly string[]): boolean {
  return args.length <= kinds.length && kinds.every((kind, index) => isOfKind(args[index], kind));
}

function isOfKind(value: unknown, kind: string): boolean {
  if (kind.endsWith('?')) return value === undefined || isOfKind(value, kind.slice(0, -1));
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'bytes':
      return value instanceof Uint8Array;
    case 'number':
      return typeof value === 'number';
    case 'flag':
      return typeof value === 'boolean';
    case 'money':
      return typeof value === 'bigint';
    case 'list':
      return Array.isArray(value);
    default:
      return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
  }
}

/** The organisation that arguments name; null where they name none. Undefined where it should be named and is not. */
export function namedOrganisation(names: Naming, [about]: readonly unknown[]): string | null | undefined {
  if (names === 'none') return null;
  const id = names === 'first' ? about : (about as { organisationId?: unknown } | null | undefined)?.organisationId;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
