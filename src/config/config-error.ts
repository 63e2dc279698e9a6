// How a configuration that cannot be used is told of: a sentence for each fault, the setting by both its names, and never a secret.

import { nearestSlugs } from '../api/slug.ts';
import type { Field } from './fields.ts';

const SHOWN_LENGTH_MAX = 60;

/**
 * A configuration that cannot be used. The message is a sentence for the operator for each thing that is wrong, one a line where
 * there are several, and never shows a secret.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(faults: string | readonly string[]) {
    const all = typeof faults === 'string' ? [faults] : faults;
    super(all.length === 1 ? all[0] : [`${all.length} settings cannot be used:`, ...all].join('\n  '));
  }
}

/** A value by its two names: the variable and the place in the file. */
export function nameOf(field: Field): string {
  return `${field.env} (${field.path.join('.')})`;
}

/** A value in a sentence, cut where it is long. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= SHOWN_LENGTH_MAX ? text : `${text.slice(0, SHOWN_LENGTH_MAX)}…`;
}

const PREFIX = 'VOXGATE_';

/** Of known names and members the one that is meant, in words. Names of providers' keys are found with our prefix before them. */
export function suggestion(wanted: string, known: readonly string[]): string {
  const written = new Map(known.flatMap((name) => [[name, name] as const, [`${PREFIX}${name}`, name] as const]));
  // A name cut short is nearest to the one it begins, whatever its length.
  const [begun] = known.filter((name) => name.startsWith(wanted)).sort((a, b) => a.length - b.length);
  const [nearest] = begun === undefined ? nearestSlugs(wanted, [...written.keys()], 1) : [begun];
  if (nearest === undefined) return '`voxgate config docs` lists what there is';
  return `the nearest name is ${written.get(nearest)}`;
}
