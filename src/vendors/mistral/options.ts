// `provider_params` of Mistral: https://docs.mistral.ai/studio/audio/speech-to-text
import { Type } from '@sinclair/typebox';
import { exactly, fraction, honouredBy, integer, optionTable, texts } from '../kit/options.ts';
import { FILES, LIVE_2, LIVE_3 } from './models.ts';

const TurnDetection = exactly({
  start_threshold: Type.Optional(fraction('How sure it has to be that a turn begins; 0.5 when absent.')),
  eager_end_threshold: Type.Optional(fraction('The same of an early end; 0.5 when absent.')),
  end_threshold: Type.Optional(fraction('The same of an end; 0.33 when absent.')),
  min_silence_ms: Type.Optional(integer(0, 10_000, 'Silence before any end; 500 when absent.')),
  end_timeout_ms: Type.Optional(
    Type.Union([integer(0, 60_000, 'Silence that ends a turn in any case.'), Type.Null()], {
      description: 'Silence that ends a turn in any case; 3000 when absent, and null for none.',
    }),
  ),
});

const withoutSpaces = (term: string): string => term.replaceAll(/\s+/g, '_');

export const options = optionTable({
  turn_detection: honouredBy({ live: [LIVE_3] })(
    Type.Union([TurnDetection, Type.Null()], {
      description: 'When the model ends turns; null leaves it to the gateway, by silence.',
    }),
    { wire: false },
  ),
  target_streaming_delay_ms: honouredBy({ live: [LIVE_3, LIVE_2] })(
    integer(80, 2_400, 'How long the model waits for more before it writes: later words are better words.'),
    {
      other: {
        models: [LIVE_2],
        schema: Type.Union([Type.Integer({ minimum: 80, maximum: 1_200, multipleOf: 80 }), Type.Literal(2_400)], {
          description: 'How long the model waits for more before it writes: 80 to 1200 in steps of 80, or 2400.',
        }),
      },
    },
  ),
  context_bias: honouredBy({ live: [LIVE_3], batch: FILES })(texts(100, 'Names and terms that may come up.'), {
    common: { keyterms: { to: (terms, _, { mode }) => (mode === 'live' ? terms : terms.map(withoutSpaces)) } },
    other: {
      models: FILES,
      schema: Type.Array(Type.String({ pattern: '^[^\\s,]{1,128}$', examples: ['Voxgate'] }), {
        maxItems: 100,
        description: 'Names and terms that may come up, without spaces and commas: `_` stands for a space.',
      }),
    },
  }),
  temperature: honouredBy({ batch: FILES })(fraction('Of sampling; 0 when absent.'), { common: 'temperature' }),
});
