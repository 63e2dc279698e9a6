// `provider_params` of the scripted provider: the script, the delays and the failures to play.
import { type Static, Type } from '@sinclair/typebox';
import { exactly } from '../kit/options.ts';

const Turn = exactly({
  text: Type.String({ maxLength: 2_000, description: 'What is said; may be empty: a turn without words.' }),
  seconds: Type.Number({ minimum: 0.1, maximum: 600, description: 'Seconds of audio the turn lasts.' }),
});

const Failure = exactly({
  how: Type.Union(
    [
      Type.Literal('refuse'),
      Type.Literal('hang'),
      Type.Literal('error'),
      Type.Literal('close'),
      Type.Literal('stall'),
      Type.Literal('finish'),
    ],
    {
      description:
        'refuse: closed instead of ready; hang: never ready; error: an error message; close: the connection ends; stall: nothing is said any more; finish: the end of the session is never confirmed.',
    },
  ),
  at_seconds: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 86_400,
      description: 'Seconds of audio after which `error`, `close` and `stall` happen; 0 when absent.',
    }),
  ),
  code: Type.Optional(
    Type.Integer({
      minimum: 1000,
      maximum: 4999,
      description: 'Close code of `close` and `refuse`; 1011 when absent.',
    }),
  ),
  kind: Type.Optional(
    Type.Union([Type.Literal('retry'), Type.Literal('next'), Type.Literal('account'), Type.Literal('caller')], {
      description: 'What `error` is taken for; `next` when absent.',
    }),
  ),
});

const Common = {
  ready_delay_ms: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 60_000, description: 'Delay before audio is taken.' }),
  ),
  final_delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000, description: 'Delay of each final.' })),
  interim_seconds: Type.Optional(
    Type.Number({ minimum: 0.05, maximum: 60, description: 'Seconds of audio between interims; 0.5 when absent.' }),
  ),
  fail: Type.Optional(Failure),
};

export const ScriptOptions = exactly({
  ...Common,
  turns: Type.Optional(
    Type.Array(Turn, { minItems: 1, maxItems: 1_000, description: 'The script; it begins again when it is over.' }),
  ),
});
export type ScriptOptions = Static<typeof ScriptOptions>;

export const NumberedOptions = exactly({
  ...Common,
  turn_seconds: Type.Optional(
    Type.Number({ minimum: 0.05, maximum: 3_600, description: 'Seconds of audio of a turn; 2 when absent.' }),
  ),
});
export type NumberedOptions = Static<typeof NumberedOptions>;
