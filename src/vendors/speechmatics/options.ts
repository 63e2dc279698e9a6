// `provider_params` of Speechmatics: members of its `transcription_config`, which are nested where the name on the wire has dots.
import { Type } from '@sinclair/typebox';
import {
  exactly,
  flag,
  fraction,
  honouredBy,
  integer,
  number,
  oneOf,
  optionTable,
  text,
  texts,
} from '../kit/options.ts';

const everywhere = honouredBy({ live: true, batch: true });
const live = honouredBy({ live: true });

const term = Type.String({ minLength: 1, maxLength: 128 });

export const options = optionTable({
  domain: everywhere(text(64, 'A language pack for a field, such as `medical` or `finance`.')),
  output_locale: everywhere(text(16, 'Spelling, such as `en-GB`; that of `language` when absent.')),
  max_delay: live(number(0.7, 4, 'Seconds from the end of a word to its final; 1 when absent.')),
  max_delay_mode: live(
    oneOf(['flexible', 'fixed'], 'Whether numbers and dates may take longer than `max_delay`; they may when absent.'),
  ),
  end_of_utterance_silence_trigger: live(
    number(0.1, 2, 'Seconds of silence that end a turn; 0.5 when absent. Keep it below `max_delay`.'),
    { wire: 'conversation_config.end_of_utterance_silence_trigger' },
  ),
  additional_vocab: everywhere(
    Type.Array(
      Type.Union([term, exactly({ content: term, sounds_like: Type.Optional(Type.Array(term, { maxItems: 20 })) })]),
      {
        maxItems: 1_000,
        description: 'Words and names to expect, with what they sound like. A long list takes up to 15 s to be ready.',
      },
    ),
    { common: 'keyterms' },
  ),
  punctuation_sensitivity: everywhere(fraction('How readily punctuation is set; 0.5 when absent.'), {
    wire: 'punctuation_overrides.sensitivity',
  }),
  permitted_marks: everywhere(texts(20, 'The marks of punctuation that may be set.', { maxLength: 4 }), {
    wire: 'punctuation_overrides.permitted_marks',
  }),
  remove_disfluencies: everywhere(flag('Leaves out "uh" and "um".'), {
    wire: 'transcript_filtering_config.remove_disfluencies',
  }),
  replacements: everywhere(
    Type.Array(exactly({ from: term, to: Type.String({ maxLength: 128 }) }), {
      maxItems: 100,
      description: 'Words that are written otherwise; `from` may be an expression between slashes.',
    }),
    { wire: 'transcript_filtering_config.replacements' },
  ),
  enable_entities: everywhere(flag('Whether numbers, dates and the like are formatted as such.')),
  max_speakers: live(integer(2, 100, 'Speakers at most. Turns diarization on.'), {
    wire: 'speaker_diarization_config.max_speakers',
  }),
  speaker_sensitivity: everywhere(fraction('How readily speakers are told apart. Turns diarization on.'), {
    wire: 'speaker_diarization_config.speaker_sensitivity',
  }),
  prefer_current_speaker: everywhere(
    flag('Stays with a speaker rather than changing between similar ones. Turns diarization on.'),
    { wire: 'speaker_diarization_config.prefer_current_speaker' },
  ),
  volume_threshold: everywhere(number(0, 100, 'What is less loud is not transcribed.'), {
    wire: 'audio_filtering_config.volume_threshold',
  }),
});
