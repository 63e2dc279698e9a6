// Models on an operator's own servers, one for each model of each shape, against the shape's simulator as that server: what holds
// of its provider holds of it, under its own name.
import { describe, expect, it } from 'vitest';
import { modelOf } from '../../../src/api/slug.ts';
import { customProvider } from '../../../src/vendors/custom/provider.ts';
import { SHAPES } from '../../../src/vendors/custom/shapes.ts';
import { hearsUtterances } from '../../../src/vendors/kit/live-turns.ts';
import type { LiveCodec, Provider } from '../../../src/vendors/kit/provider.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { gapsIn } from '../../simulation/whole.ts';
import { isHttp } from '../../suites/provider/options.ts';
import { batchRequest, legRequest } from '../../suites/provider/requests.ts';
import { testSimulatedFiles } from '../../suites/provider/simulated-files.ts';
import { playLeg } from '../../suites/provider/simulated-leg.ts';

const NAME = 'Own.Model-1';
const SLUG = `custom/${NAME}`;

/** Models that want the same are as good as one. */
const different = ({ models, live, options }: Provider) => [
  ...new Map(
    models.map((card) => {
      const [model, sampleRate] = [modelOf(card.id), card.audio.sample_rates[0] as number];
      const wants = [
        card.modes,
        card.capabilities,
        options(model),
        live?.(model).timing(legRequest({ model, sampleRate })),
      ];
      return [JSON.stringify(wants), card];
    }),
  ).values(),
];

/** Every kind of model that a server of a shape may have, under our own name and with the modes that it has by itself. */
const CASES = Object.entries(SHAPES).flatMap(([shape, { provider }]) =>
  different(provider)
    .filter(({ modes }) => modes.length > 0)
    .map(({ id, modes }) => {
      const like = modelOf(id);
      const make = (model: string) =>
        customProvider({
          ...{ name: NAME, shape, url: 'http://own.test', credential: undefined, model, like, title: 'Our own' },
          ...Object.fromEntries(modes.map((mode) => [mode, 'free'])),
        });
      return { shape, like, provider, own: make(like), renamed: make('some/other model') };
    }),
);

const simulatorOf = (provider: Provider) => {
  const simulator = simulators.find((each) => each.provider === provider.name);
  if (simulator === undefined) throw new Error(`The shape of ${provider.name} has no simulator.`);
  return simulator;
};

describe.each(CASES)('$shape, like $like', ({ like, provider, own, renamed }) => {
  const [card] = own.models;
  if (card === undefined) throw new Error('There is no model.');
  const rate = card.audio.sample_rates[0] as number;

  it('offers one model with its template’s options, and takes no customer key', () => {
    expect(own).toMatchObject({ name: SLUG, title: 'Our own', credential: 'none', address: 'configured' });
    expect(card).toMatchObject({ id: SLUG, name: 'Our own' });
    expect(own.options(NAME)).toBe(provider.options(like));
    for (const option of Object.keys(own.options(NAME).properties))
      for (const mode of card.modes.filter((each) => each === 'batch' || !hearsUtterances(card)))
        expect(own.honours?.(option, NAME, mode)).toBe(provider.honours?.(option, like, mode));
  });

  if (own.live !== undefined && card.modes.includes('live') && !hearsUtterances(card)) {
    const play = (played: Provider, faults: string[] = [], more = {}) =>
      playLeg({
        ...{ provider: played, simulator: simulatorOf(provider), model: NAME, sampleRate: rate, seconds: 5.3, faults },
        ...more,
      });

    it('transcribes every sample once, with finalizes in between', async () => {
      const { finals, samples, end } = await play(own, [], { finalizeAt: [1.3, 3] });
      expect([end, gapsIn(finals, samples, rate, [])]).toEqual(['finished', []]);
    });

    it('asks for a session by the name that the server has for it', () => {
      const asked = (codec: LiveCodec | undefined, model: string) => {
        const access = { baseUrl: 'http://own.test', credential: undefined };
        const { state, endpoint, hello } = (codec as LiveCodec).open(legRequest({ model, sampleRate: rate, access }));
        const further = codec?.read(state, { json: { type: 'session.created' } });
        return decodeURIComponent(JSON.stringify([endpoint, hello, further]))
          .replaceAll('+', ' ')
          .toLowerCase();
      };
      const written = asked(renamed.live?.(NAME), NAME);
      expect(written).toMatch(/\/\/own\.test[/?]/);
      expect(written).not.toMatch(/authorization/i);
      expect(written.includes('some/other model')).toBe(asked(provider.live?.(like), like).includes(like));
      expect(written).not.toContain(like);
    });

    it('uses its template’s timing', () => {
      const request = { model: NAME, sampleRate: rate };
      expect(own.live?.(NAME).timing(legRequest(request))).toEqual(
        provider.live?.(like).timing(legRequest({ ...request, model: like })),
      );
    });

    it.each(['refuse=401', 'refuse=500', 'close-after=1s'])(
      'fails as that does with %s, in its own name',
      async (fault) => {
        const { end, failure } = await play(own, [fault]);
        const asThat = await playLeg({
          ...{ provider, simulator: simulatorOf(provider), model: like, sampleRate: rate, seconds: 5.3 },
          faults: [fault],
        });
        expect(end).toBe(asThat.end);
        expect(asThat.end).not.toBe('finished');
        expect(failure?.message ?? '').not.toContain(provider.title);
      },
    );
  }

  if (isHttp(own.batch) && card.modes.includes('batch')) {
    const { batch } = own;
    testSimulatedFiles(own, batch, simulatorOf(provider));

    it('asks for a file by the name that the server has for it', () => {
      const access = { baseUrl: 'http://own.test', credential: undefined };
      const asked = (codec: Provider['batch'], model: string) => {
        const { step } = (codec as typeof batch).begin(batchRequest({ model, access }));
        expect(step.type).toBe('request');
        return decodeURIComponent(JSON.stringify(step)).replaceAll('+', ' ').toLowerCase();
      };
      const written = asked(renamed.batch, NAME);
      expect(written).toContain('http://own.test/');
      expect(written.includes('some/other model')).toBe(asked(provider.batch, like).includes(like));
      expect(written).not.toContain(like);
      expect(written).not.toContain('authorization');
    });
  }
});
