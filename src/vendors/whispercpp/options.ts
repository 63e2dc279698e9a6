// `provider_params` of whisper.cpp: https://github.com/ggml-org/whisper.cpp/tree/master/examples/server
import { flag, fraction, honouredBy, integer, optionTable, text } from '../kit/options.ts';
import { PROMPT_WITH_TERMS } from '../kit/vocabulary/conversions.ts';

const files = honouredBy({ batch: true });

export const options = optionTable({
  prompt: files(text(8_192, 'Text in the expected style or with the expected words.'), { common: PROMPT_WITH_TERMS }),
  temperature: files(fraction('Of sampling; 0 when absent.'), { common: 'temperature' }),
  beam_size: files(integer(1, 8, 'Texts that are followed at a time; above 1 it takes longer.')),
  best_of: files(integer(1, 8, 'Texts that the best is taken of; 2 when absent.')),
  translate: files(flag('Whether the text is English, whatever is spoken.')),
  suppress_nst: files(flag('Whether what is no speech, such as music notes, is left out.')),
  vad: files(flag('Whether silence is cut out first; the server has to have been given a model for that.')),
  vad_threshold: files(fraction('How loud speech must be for that; 0.5 when absent.')),
  max_len: files(integer(0, 1_000, 'The longest segment, in characters; 60 when absent.')),
  no_speech_thold: files(fraction('How sure it has to be that nothing was said; 0.6 when absent.')),
});
