// Files of ElevenLabs' `/v1/speech-to-text`: a form, and an answer with every word and what stands between.
import type { VerboseTranscription } from '../../../api/transcriptions.ts';
import { booleanIn } from '../../../api/values/boolean.ts';
import type { Answer, ClientRequest, FormEndpoint } from '../../compat/dialect.ts';
import {
  badRequest,
  flagsOf,
  keytermsCut,
  keytermsWithin,
  optionsInQuery,
  ownParameters,
  refuseAddresses,
  setAll,
  withFlags,
} from '../../compat/params.ts';
import { warningsIn } from '../../compat/request.ts';
import { languageCode } from '../../kit/languages/whisper-languages.ts';
import { options } from '../options.ts';
import { additionalFormats, unservedFormats } from './additional-formats.ts';
import { plainQuery, tagOf } from './asked.ts';
import { wordsAsTold } from './shapes.ts';

/** What would be fetched from elsewhere, or told there or in other ways. */
const UNSERVED = [
  ...['webhook', 'webhook_id', 'use_multi_channel'],
  ...['entity_detection', 'transcript_edit', 'detect_speaker_roles', 'use_speaker_library'],
];
/** They are asked for in the words that all models know. */
const COMMON = ['keyterms', 'temperature'];
const MODEL = 'scribe_v2';
const FLAGS = [...flagsOf(options.schema(MODEL)), 'diarize'];
/** Words, of which `null` may be one. */
const TERMS = 'keyterms';

type Fields = Parameters<FormEndpoint['open']>[0];

/** Without what is empty, or the `null` that the vendor's Python SDK sends for a list or an object that its caller leaves out. */
const named = (said: Fields): Fields =>
  said.filter(([name, value]) => value !== '' && (value !== 'null' || name === TERMS || FLAGS.includes(name)));

export const files: FormEndpoint = {
  lists: ['keyterms', 'entity_detection', 'entity_redaction'],

  open(said, handshake): ClientRequest {
    const query = plainQuery(handshake.query);
    const fields = withFlags(named(said), FLAGS);
    const one = new Map(fields);
    refuseAddresses(Object.fromEntries(one), ['source_url', 'cloud_storage_url']);
    for (const name of UNSERVED) {
      if (booleanIn(one.get(name) ?? false) !== false)
        throw badRequest(name, `\`${name}\` is not served: the transcript of the file is the answer. Leave it out.`);
    }
    if ((one.get('file_format') ?? 'other') !== 'other')
      throw badRequest('file_format', '`file_format` has to be other: send samples in a WAV file.');
    const parameters = ownParameters(query);
    const language = one.get('language_code');
    const terms = fields.flatMap(([name, value]) => (name === 'keyterms' ? [value] : []));
    const isLogged = query.get('enable_logging') !== 'false';
    setAll(parameters, {
      language: language === undefined ? undefined : tagOf(language),
      diarization: one.get('diarize') === 'true' ? 'true' : undefined,
      keyterms: keytermsWithin(terms),
      temperature: one.get('temperature'),
      // Whatever model hears it: one that keeps something is refused.
      retention: isLogged ? undefined : 'none',
    });
    const ofModel = fields.filter(([name]) => options.honours(name, MODEL, 'batch'));
    const own = optionsInQuery(ofModel, options.schema(MODEL), COMMON);
    return {
      ...{
        model: one.get('model_id') ?? MODEL,
        parameters,
        unmet: [...keytermsCut('keyterms', terms), ...unservedFormats(fields)],
      },
      own: isLogged ? own : { ...own, enable_logging: false },
    };
  },

  answer(heard: VerboseTranscription, { requestId, fields, captions }): Answer {
    const { text, language, duration, words = [] } = heard;
    const answer = {
      language_code: languageCode(language) ?? language,
      // Nobody says how sure a model is of the language.
      language_probability: 1,
      text,
      words: wordsAsTold({ text, start: 0, end: duration, words }),
      transcription_id: requestId,
      audio_duration_secs: duration,
      ...additionalFormats(heard, fields, captions),
      ...warningsIn(heard),
    };
    return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(answer) };
  },
};
