// What holds of every provider's options: the schema takes and refuses what its rows say, they are honoured where the rows say,
// and what is taken reaches the wire there, and nowhere else.

import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import type { Mode } from '../../../src/api/models.ts';
import type { JsonObject } from '../../../src/vendors/kit/json.ts';
import type { BatchCodec, HttpBatchCodec, LiveCodec, Provider } from '../../../src/vendors/kit/provider.ts';
import { askedOfFile } from './batch.ts';
import type { ProviderFixtures } from './fixtures.ts';
import { askedOf } from './live.ts';
import { asText, batchRequest, flat, legRequest, valueAt } from './requests.ts';

/** No option of anybody, and names that every object has. */
const NONE = ['no_such_option', 'constructor', 'toString', '__proto__'];

interface Place {
  model: string;
  mode: Mode;
}

export function testOptions(provider: Provider, { options, live, batch }: ProviderFixtures): void {
  const { name, models } = provider;
  const modelOf = (id: string) => id.slice(name.length + 1);
  const accepts = (model: string, params: JsonObject) =>
    Value.Check(provider.options(model), { ...options.needed?.(model), ...params });
  // Models that hear files only are honoured live as for files.
  const places: Place[] = models.flatMap(({ id, modes, live_turns }) =>
    modes
      .filter((mode) => live_turns !== 'gateway' || mode === 'batch')
      .map((mode): Place => ({ model: modelOf(id), mode })),
  );
  const knows = ({ model }: Place, option: string) => Object.hasOwn(provider.options(model).properties, option);
  const honours = (place: Place, option: string) =>
    knows(place, option) && (provider.honours?.(option, place.model, place.mode) ?? true);

  const asked = ({ model, mode }: Place, params: JsonObject): JsonObject => {
    const all = { ...options.needed?.(model), ...params };
    if (live !== undefined && (mode === 'live' || !isHttp(provider.batch))) {
      return askedOf(
        provider.live?.(model) as LiveCodec,
        live,
        legRequest({ model, sampleRate: live.sampleRate, params: all }),
      );
    }
    return askedOfFile(provider.batch as HttpBatchCodec, batch ?? {}, batchRequest({ model, params: all }));
  };
  const written = ({ model, mode }: Place, option: string, value: unknown): unknown => {
    if (mode === 'batch' && isHttp(provider.batch)) return (batch?.written ?? asText)(value, option, model);
    return (live?.written ?? asText)(value, option);
  };

  describe(`${name} options`, () => {
    it('match the rows, each with a description', () => {
      const known = new Set(places.flatMap(({ model }) => Object.keys(provider.options(model).properties)));
      expect([...known].sort()).toEqual(Object.keys(options.rows).sort());
      for (const { model } of places) {
        for (const [option, { description, properties = {} }] of Object.entries(provider.options(model).properties)) {
          // An object's members say what they are for.
          const said = description ?? Object.values<TSchema>(properties)[0]?.description;
          expect(String(said), `${model} ${option}`).toMatch(/\.$/);
        }
      }
    });

    it.each(Object.entries(options.rows))('%s is as its row says', (option, row) => {
      const knowing = places.filter((place) => knows(place, option));
      for (const { model } of knowing) {
        for (const [accepted, values] of [
          [true, row.takes],
          [false, row.refuses],
        ] as const) {
          for (const value of values)
            expect(accepts(model, { [option]: value }), `${model} ${JSON.stringify(value)}`).toBe(accepted);
        }
      }
      for (const mode of ['live', 'batch'] as const) {
        const honouring = places.filter((place) => place.mode === mode && honours(place, option));
        expect([mode, honouring.map(({ model }) => model)]).toEqual([mode, row[mode] ?? []]);
      }
    });

    it.each(Object.entries(options.rows))('%s reaches the wire where it is honoured alone', (option, row) => {
      for (const place of places.filter((each) => knows(each, option))) {
        for (const value of row.takes) {
          const at = row.at ?? option;
          const plain = valueAt(asked(place, {}), at);
          const found = valueAt(asked(place, { [option]: value }), at);
          const expected = honours(place, option) ? written(place, option, value) : plain;
          expect({ ...place, value, found: flat(found) }).toEqual({ ...place, value, found: flat(expected) });
        }
      }
    });

    it.each(options.checks ?? [])('apply to %s: %j accepted: %s', (model, params, accepted) => {
      expect(accepts(model, params)).toBe(accepted);
    });

    it('allow no others', () => {
      for (const place of places) {
        for (const option of NONE) {
          expect(accepts(place.model, JSON.parse(`{"${option}":1}`)), `${place.model} ${option}`).toBe(false);
          if (provider.honours !== undefined) expect(provider.honours(option, place.model, place.mode)).toBe(false);
        }
      }
    });
  });
}

export const isHttp = (batch: BatchCodec | undefined): batch is HttpBatchCodec => batch?.kind === 'http';
