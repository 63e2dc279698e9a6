// The analyse request of Presidio and its answer: what is asked for which class, and where in the text the answer says it is. Pure.
// https://microsoft.github.io/presidio/api-docs/api-docs.html
import { type RedactionClass, SERVICE_CLASSES, type ServiceClass } from '../../api/redaction.ts';
import type { Match } from '../../redaction/match.ts';

/** The entities that are requested for a class. */
const REQUESTED: Readonly<Record<ServiceClass, readonly string[]>> = { name: ['PERSON'], address: ['LOCATION'] };

/** What services call them in their answers. */
const CLASS_OF: ReadonlyMap<string, ServiceClass> = new Map([
  ['PERSON', 'name'],
  ['NAME', 'name'],
  ['LOCATION', 'address'],
  ['ADDRESS', 'address'],
  ['STREET_ADDRESS', 'address'],
  ['GPE', 'address'],
  ['LOC', 'address'],
]);

export interface AnalyzeRequest {
  text: string;
  language: string;
  entities: string[];
}

export function analyzeRequest(text: string, language: string, classes: readonly ServiceClass[]): AnalyzeRequest {
  const entities = SERVICE_CLASSES.filter((each) => classes.includes(each)).flatMap((each) => REQUESTED[each]);
  return { text, language, entities: [...entities] };
}

/**
 * What of the text the answer names. Its offsets count code points, and ours count UTF-16 code units.
 *
 * @throws Error for an answer that is not one about this text: then nothing in it can be relied on
 */
export function matchesIn(body: string, text: string, classes: readonly ServiceClass[]): Match[] {
  const answer: unknown = JSON.parse(body);
  if (!Array.isArray(answer)) throw new Error('The answer is not a list.');
  const place = placesIn(text);
  const found: Match[] = [];
  for (const entity of answer) {
    const { start, end, entity_type: type } = (entity ?? {}) as Record<string, unknown>;
    const [from, to] = [place(start), place(end)];
    if (from === undefined || to === undefined || from >= to) throw new Error('An entity is not within the text.');
    if (typeof type !== 'string') throw new Error('An entity has no type.');
    const kind = CLASS_OF.get(type.toUpperCase());
    if (kind !== undefined && classes.includes(kind)) found.push({ class: kind satisfies RedactionClass, from, to });
  }
  return found;
}

/** Where a code point of the text lies; undefined for what is not an offset in it. */
function placesIn(text: string): (offset: unknown) => number | undefined {
  const isPlace = (offset: unknown, length: number): offset is number =>
    Number.isInteger(offset) && (offset as number) >= 0 && (offset as number) <= length;
  // Most texts have no code point of two units.
  if (!/[\ud800-\udbff]/.test(text)) return (offset) => (isPlace(offset, text.length) ? offset : undefined);
  const places: number[] = [];
  let at = 0;
  for (const letter of text) {
    places.push(at);
    at += letter.length;
  }
  places.push(at);
  return (offset) => (isPlace(offset, places.length - 1) ? places[offset] : undefined);
}
