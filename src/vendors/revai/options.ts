// `provider_params` of Rev AI.
import { Type } from '@sinclair/typebox';
import { exactly, flag, honouredBy, integer, oneOf, optionTable, text } from '../kit/options.ts';

const everywhere = honouredBy({ live: true, batch: true });
const live = honouredBy({ live: true });
const files = honouredBy({ batch: true });

export const options = optionTable({
  custom_vocabulary_id: everywhere(text(128, 'A vocabulary that was made at Rev AI before, and is complete.')),
  filter_profanity: everywhere(flag('Masks profanity.')),
  remove_disfluencies: everywhere(flag('Leaves out "uh" and "um".')),
  skip_postprocessing: everywhere(flag('Raw words, without punctuation and capitals.')),
  delete_after_seconds: everywhere(
    integer(0, 2_592_000, 'Seconds after which Rev AI deletes its record; what the account says when absent.'),
  ),
  max_segment_duration_seconds: live(integer(5, 60, 'A turn is ended after so many seconds in any case.')),
  priority: live(oneOf(['speed', 'accuracy'], 'What counts more; speed when absent.')),
  diarization_type: files(oneOf(['standard', 'premium'], 'Files: how carefully speakers are told apart.')),
  speakers_count: files(integer(1, 100, 'Files: how many speakers there are.'), { wholeFile: true }),
  custom_vocabularies: files(
    Type.Array(
      exactly({ phrases: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 1_000 }) }),
      { minItems: 1, maxItems: 10, description: 'Files: words and phrases to expect.' },
    ),
    { common: { keyterms: { to: (phrases) => [{ phrases }] } } },
  ),
});
