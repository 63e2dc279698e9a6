// `provider_params` of Soniox: https://soniox.com/docs/stt/api-reference/websocket-api
import { Type } from '@sinclair/typebox';
import { exactly, flag, honouredBy, integer, number, optionTable, text, texts } from '../kit/options.ts';
import { toBaseLanguages } from '../kit/vocabulary/conversions.ts';
import { FILE_MODELS, LIVE_MODELS } from './models.ts';

const everywhere = honouredBy({ live: LIVE_MODELS, batch: FILE_MODELS });
const live = honouredBy({ live: LIVE_MODELS });

const pairs = (one: string, other: string, description: string) =>
  Type.Optional(Type.Array(exactly({ [one]: Type.String(), [other]: Type.String() }), { maxItems: 200, description }));

export const options = optionTable({
  language_hints: everywhere(texts(60, 'Codes of the languages to expect; in place of `language`.', { maxLength: 8 }), {
    common: { languages: { to: toBaseLanguages } },
  }),
  language_hints_strict: everywhere(flag('Hears no other languages than those of the hints, as far as it can.')),
  enable_language_identification: everywhere(
    flag('Names the language of each part; `language=auto` asks for it as well.'),
  ),
  context: everywhere(
    exactly(
      {
        general: pairs('key', 'value', 'Facts such as domain, topic and names.'),
        text: Type.Optional(text(10_000, 'What was said or written before.')),
        terms: Type.Optional(texts(1_000, 'Words and names to expect.')),
      },
      { description: 'What is spoken about: 10,000 characters in all.' },
    ),
    {
      common: {
        keyterms: { charactersMax: 5_000, to: (terms) => ({ terms }) },
        prompt: { charactersMax: 4_500, to: (text, before) => ({ ...(before as object), text }) },
      },
    },
  ),
  client_reference_id: everywhere(text(256, 'Label of the request in the usage reports of Soniox.')),
  max_endpoint_delay_ms: live(
    integer(500, 3_000, 'Milliseconds of silence that end a turn in any case; 2000 when absent.'),
  ),
  endpoint_sensitivity: live(number(-1, 1, 'How readily a turn is taken for complete; 0 when absent.')),
  endpoint_latency_adjustment_level: live(integer(0, 3, 'How much sooner turns are ended; 0 when absent.')),
  translation: honouredBy({})(
    Type.Object(
      { type: Type.String() },
      { description: 'Known to the provider; the gateway has no place for translations and does not ask for them.' },
    ),
  ),
});
