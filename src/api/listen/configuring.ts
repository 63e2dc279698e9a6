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
          'Slug or alias of the model that is to hear from now on. Where `provider_params` are not named with it, those of the model before are not its own.',
      }),
    ),
    fallbacks: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.Union([Type.String(), Candidate]))], {
        description: `At most ${FALLBACKS_MAX}; an empty list leaves none.`,
      }),
    ),
    provider_params: Type.Optional(ProviderParams),
    language: Type.Optional(Type.String({ description: 'BCP-47 tag, or `auto`.' })),
    ...{ languages, keyterms, prompt, redact, vocabulary_boost },
  },
  {
    additionalProperties: false,
    description: `Changes what the session is asked for: what is named, and nothing else; null takes it back. It is in force at once where the model and its price stay and its provider takes the change on the open connection, else from the end of the turn on; a turn that does not end within 30 s is ended there. \`configured\` tells from where on. No word is lost. Changes are a second apart at least, ${CONFIGURATIONS_MAX} in a session; of several that wait the last counts.`,
  },
);
export type Configure = Static<typeof Configure>;

export const Configured = Type.Object(
  {
    type: Type.Literal('configured'),
    ...Common,
    channel: Channel,
    model: Slug,
    fallbacks: Type.Array(Slug, { description: 'The models that are tried when it fails, in order.' }),
    chain: AskedOfModels,
    from: Type.Number({ description: 'Seconds from the beginning of the audio: from there on it is heard so.' }),
    replayed_seconds: Type.Number({ description: 'Seconds of audio that are sent again; they are not billed twice.' }),
  },
  { description: 'What `configure` asked for is in force.' },
);
