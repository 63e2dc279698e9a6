// Reads JSON of a provider. Nothing is taken for what it claims to be before it was looked at, and nothing throws.

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object; an empty one when it is none. */
export const objectIn = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A number that is one: finite, and not below zero. */
export const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** A whole number, not below zero. */
export const countIn = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

/** A time in seconds. One below zero is the beginning: words count for more than where they are said to have been. */
export const timeIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : undefined;

/** The same; a number that is none, such as what `1e999` is read as, is `otherwise`. */
export const timeOr = (value: unknown, otherwise: number): number | undefined =>
  timeIn(value) ?? (typeof value === 'number' ? otherwise : undefined);

/** Seconds of a time in milliseconds. */
export function secondsIn(milliseconds: unknown): number | undefined {
  const known = numberIn(milliseconds);
  return known === undefined ? undefined : known / 1000;
}

/** A number from 0 to 1: a confidence. */
export const fractionIn = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined;

/** What a text says as JSON; undefined when it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A JSON object out of text, or an empty one. */
export const objectOf = (text: string): JsonObject => objectIn(jsonOf(text));
