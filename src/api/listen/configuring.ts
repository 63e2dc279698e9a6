// What a client may change while its session goes on, and how it is told that the change is in force.
import { type Static, Type } from '@sinclair/typebox';
import { FALLBACKS_MAX } from './aliases.ts';
import { CONFIGURATIONS_MAX } from './bounds.ts';
import { Candidate, ProviderParams } from './candidate.ts';
import { Channel, Common, Slug } from './turn-events.ts';
import { AskedOfModels, Vocabulary } from './vocabulary.ts';

const { languages, keyterms, prompt, redact, vocabulary_boost } = Vocabulary.properties;

export const Configure = Type.Object(
  {
    type: Type.Literal('configure'),
    model: Type.Optional(
      Type.String({
        description:
          'Slug or alias of the model to use from now on. Without `provider_params`, it does not inherit those of the model before.',
      }),
    ),
    fallbacks: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.Union([Type.String(), Candidate]))], {
        description: `At most ${FALLBACKS_MAX}; an empty list removes all fallbacks.`,
      }),
    ),
    provider_params: Type.Optional(ProviderParams),
    language: Type.Optional(Type.String({ description: 'BCP-47 tag, or `auto`.' })),
    ...{ languages, keyterms, prompt, redact, vocabulary_boost },
  },
  {
    additionalProperties: false,
    description: `Changes the options that it names, and no others; null resets an option. The change takes effect at once if model and price stay and the provider accepts it on the open connection. Otherwise it takes effect at the end of the turn. A turn that does not end within 30 s ends there. \`configured\` reports the position. No word is lost. Changes take effect at most once a second, and ${CONFIGURATIONS_MAX} times per session. If several wait, the last one counts.`,
  },
);
export type Configure = Static<typeof Configure>;

export const Configured = Type.Object(
  {
    type: Type.Literal('configured'),
    ...Common,
    channel: Channel,
    model: Slug,
    fallbacks: Type.Array(Slug, { description: 'The models to use when it fails, in order.' }),
    chain: AskedOfModels,
    from: Type.Number({
      description: 'The position from which on the change applies, in seconds from the beginning of the audio.',
    }),
    replayed_seconds: Type.Number({ description: 'Seconds of audio that are replayed. They are not billed twice.' }),
  },
  { description: 'The change that `configure` requested is in force.' },
);
