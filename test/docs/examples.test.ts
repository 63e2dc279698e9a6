// The examples of both documents are what their schemas say, to the last member.
import { describe, expect, test } from 'vitest';
import { asyncapiDocument } from '../../src/docs/asyncapi.ts';
import { openapiDocument } from '../../src/docs/openapi.ts';
import type { Json } from '../../src/docs/schemas/schemas.ts';
import { providers } from '../../src/vendors/index.ts';
import { StrictSchemas } from '../setup/strict-schemas.ts';

interface Place {
  path: string[];
  example: unknown;
}

const openapi = openapiDocument({ version: '1.2.3', providers });
const asyncapi = asyncapiDocument({ version: '1.2.3', providers });

/** Every object of the document that has a schema and an example of it. */
function placesIn(value: unknown, path: string[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const { schema, example, examples } = value as Json;
  const own = typeof schema === 'object' && example !== undefined ? [{ path: [...path, 'schema'], example }] : [];
  // Those of a JSON Schema.
  const listed = Array.isArray(examples) && typeof (value as Json).type === 'string' ? examples : [];
  const inner = Object.entries(value).flatMap(([name, member]) =>
    name === 'example' || name === 'examples' ? [] : placesIn(member, [...path, name]),
  );
  return [...own, ...listed.map((each) => ({ path, example: each })), ...inner];
}

/** An event stream is looked at by its data. */
const exampleOf = ({ path, example }: Place): unknown =>
  path.includes('text/event-stream') ? JSON.parse(/^data: (.*)$/m.exec(String(example))![1]!) : example;

describe('an example of /openapi.json', () => {
  const schemas = new StrictSchemas(openapi);
  const places = placesIn(openapi);

  test.each(places.map((place) => [place.path.join(' '), place] as const))('fits: %s', (_, place) => {
    expect(schemas.problems(place.path, exampleOf(place))).toEqual([]);
  });

  test('exists for every answer with a body', () => {
    const answers = places.filter(({ path }) => path.includes('responses')).length;
    expect(answers).toBeGreaterThan(100);
  });
});

describe('an example of /asyncapi.json', () => {
  const schemas = new StrictSchemas(asyncapi);
  const { messages } = asyncapi.components as { messages: Record<string, { payload: Json; examples?: Json[] }> };
  const examples = Object.entries(messages).flatMap(([name, message]) =>
    (message.examples ?? []).map(({ payload }) => [name, payload] as const),
  );

  test.each(examples)('fits: %s', (name, payload) => {
    expect(schemas.problems(['components', 'schemas', name], payload)).toEqual([]);
  });

  test('exists for a client’s messages, and for the events of every session', () => {
    const names = examples.map(([name]) => name);
    expect(names).toEqual([
      'StartMessage',
      'Finalize',
      'Close',
      'Keepalive',
      'SessionStarted',
      'Transcript',
      'SessionEnded',
    ]);
  });
});
