// Tags of a key as text that people edit: one on each line, `customer: acme`.
import type { Tags } from '../../api/tags.ts';

export const linesOfTags = (tags: Tags | null | undefined): string =>
  Object.entries(tags ?? {})
    .map(([key, value]) => `${key}: ${value}`)
    .join('\n');

/** Null where there is none. Throws an Error that says which line is wrong; what keys and values may be is for the gateway to say. */
export function tagsOfLines(text: string): Tags | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const pairs = new Map<string, string>();
  for (const line of lines) {
    const at = line.indexOf(':');
    const key = line.slice(0, at).trim();
    if (at < 1 || key === '')
      throw new Error(`“${line.trim()}” is not a tag: write a key, a colon and a value, such as customer: acme.`);
    if (pairs.has(key)) throw new Error(`“${key}” is there twice: a tag has one value.`);
    pairs.set(key, line.slice(at + 1).trim());
  }
  return lines.length === 0 ? null : Object.fromEntries(pairs);
}
