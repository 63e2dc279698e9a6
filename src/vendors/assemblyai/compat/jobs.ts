// Files of AssemblyAI's clients: an upload, a transcript that is requested, and looked after until it is completed.
// https://www.assemblyai.com/docs/api-reference/transcripts/submit

import { authHeader, callbackAt, callbacksOf, jsonPost, withShownUrl } from '../../compat/callbacks.ts';
import type { Answer, Handshake } from '../../compat/dialect.ts';
import {
  type JobAudio,
  type JobEndpoints,
  type JobMeans,
  type JobRequest,
  type JobState,
  pageOf,
  placeOf,
  type ShownJob,
  type WriteCallback,
} from '../../compat/jobs.ts';
import {
  addRedactions,
  addReplacements,
  audioAt,
  badRequest,
  fittingRules,
  flagPlacesOf,
  keytermsCut,
  keytermsWithin,
  optionsIn,
  ownParameters,
  refuseMembers,
  replacementsCut,
  setAll,
  withFlagsAt,
  withShownAddress,
} from '../../compat/params.ts';
import { jsonAnswer, textAnswer, warningsIn } from '../../compat/request.ts';
import {
  confidenceOf,
  type HeardTurn,
  type HeardWord,
  sentencesOf,
  turnsOf,
  wordsOf,
} from '../../compat/transcript.ts';
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../../kit/json.ts';
import { bareWord } from '../../kit/words.ts';
import { languageOf } from '../api.ts';
import { completed, deleted, letterOf, transcriptMessage } from '../messages.ts';
import { options } from '../options.ts';
import { millisecondsOf, toldWords } from './streaming.ts';

const UPLOADS = '/v2/upload';
const TRANSCRIPTS = '/v2/transcript';
const MODEL = 'universal-3-5-pro';
/** Of a search: each is looked for in all words. */
const TERMS_MAX = 100;
/** They are requested in the words that all models know. */
const COMMON = ['keyterms_prompt', 'prompt', 'custom_spelling'];
/** What would be made of the transcript, or told in other ways. */
const UNSERVED = [
  ...['multichannel', 'dual_channel', 'auto_chapters', 'auto_highlights', 'content_safety'],
  ...['entity_detection', 'iab_categories', 'sentiment_analysis', 'summarization', 'redact_pii_audio'],
  ...['speech_understanding', 'translation'],
];

const FLAGS = [...flagPlacesOf(options.rows, 'batch'), 'speaker_labels', 'redact_pii', 'language_detection'];

/** Throws an ApiError. */
function open(said: JsonObject, { query }: Handshake): JobRequest & JobAudio {
  const body = withFlagsAt(said, FLAGS);
  const audio = audioAt(body.audio_url, `/compat/assemblyai${UPLOADS}`, 'audio_url');
  refuseMembers(body, UNSERVED);
  const parameters = ownParameters(query);
  const terms = [...listIn(body.keyterms_prompt), ...listIn(body.word_boost)].flatMap((term) => textIn(term) ?? []);
  const temperature = numberIn(body.temperature);
  setAll(parameters, {
    language: languageIn(body),
    diarization: body.speaker_labels === true ? 'true' : undefined,
    keyterms: keytermsWithin(terms),
    prompt: textIn(body.prompt),
    temperature: temperature === undefined ? undefined : String(temperature),
  });
  addRedactions(parameters, body.redact_pii === true ? ['pii'] : []);
  addReplacements(parameters, fittingRules(spellingsOf(body)));
  const model = textIn(listIn(body.speech_models)[0]) ?? textIn(body.speech_model) ?? MODEL;
  const own = Object.entries(optionsIn(options.rows, body, 'batch')).filter(([name]) => !COMMON.includes(name));
  const unmet = [...keytermsCut('keyterms_prompt', terms), ...replacementsCut('custom_spelling', spellingsOf(body))];
  const webhook = webhookIn(body);
  return { ...audio, model, parameters, own: Object.fromEntries(own), unmet, asked: shownOf(body), ...webhook };
}

/** Throws an ApiError. */
function spellingsOf({ custom_spelling: asked }: JsonObject): { from: string; to: string }[] {
  if (asked === undefined || asked === null) return [];
  if (!Array.isArray(asked)) throw badRequest('custom_spelling', SPELLING);
  return asked.flatMap((each) => {
    const { from, to } = objectIn(each);
    const heard = typeof from === 'string' ? [from] : listIn(from);
    if (typeof to !== 'string' || heard.length === 0 || !heard.every((text) => typeof text === 'string'))
      throw badRequest('custom_spelling', SPELLING);
    return heard.map((text) => ({ from: text as string, to }));
  });
}

const SPELLING = '`custom_spelling` is a list such as [{"from":["heard","herd"],"to":"written"}].';

/** Throws an ApiError. */
function webhookIn({ webhook_url, webhook_auth_header_name: name, webhook_auth_header_value: value }: JsonObject) {
  const headers = authHeader(name, value, ['webhook_auth_header_name', 'webhook_auth_header_value']);
  return callbacksOf(callbackAt(webhook_url, 'webhook_url', { headers }));
}

/** Without secrets. */
function shownOf({ webhook_auth_header_value: secret, ...body }: JsonObject): JsonObject {
  const shown = withShownUrl(withShownAddress(body, 'audio_url'), 'webhook_url');
  return textIn(body.webhook_url) ? { ...shown, webhook_auth: Boolean(secret) } : shown;
}

/** https://www.assemblyai.com/docs/pre-recorded-audio/webhooks */
export const callbackPost: WriteCallback = ({ id, state }, callback) =>
  jsonPost(callback, { transcript_id: id, status: STATUS[state.type] });

function languageIn({ language_code, language_detection }: JsonObject): string | undefined {
  if (language_code === undefined || language_code === null) return language_detection === true ? 'auto' : undefined;
  const language = languageOf(language_code);
  if (language !== undefined) return language;
  throw badRequest('language_code', '`language_code` is a code such as en_us or de.');
}

const STATUS = { queued: 'queued', processing: 'processing', done: 'completed', failed: 'error' } as const;

const transcriptOf = ({ id, asked, state, callbackStatus = null }: ShownJob): JsonObject =>
  transcriptMessage(id, asked, STATUS[state.type], {
    ...(textIn(asked.webhook_url) ? { webhook_status_code: callbackStatus } : {}),
    ...(state.type === 'failed' ? { error: state.refusal.message } : {}),
    ...(state.type === 'done' ? heardOf(state, asked) : {}),
  });

function heardOf({ heard: { transcription } }: Extract<JobState, { type: 'done' }>, asked: JsonObject): JsonObject {
  const turns = turnsOf(transcription);
  const words = turns.flatMap(toldWords);
  const told = {
    text: transcription.text,
    words,
    confidence: confidenceOf({ words }),
    seconds: transcription.duration,
  };
  return {
    ...completed(told, asked.speaker_labels === true ? turns.map(partOf) : undefined),
    speech_model_used: transcription.model,
    ...warningsIn(transcription),
    ...(turns[0]?.language === undefined ? {} : { language_code: turns[0].language }),
  };
}

const partOf = (turn: HeardTurn) => ({
  text: turn.text,
  start: millisecondsOf(turn.start),
  end: millisecondsOf(turn.end),
  confidence: confidenceOf(turn),
  speaker: letterOf(turn.speaker) ?? null,
  words: toldWords(turn),
});

type Done = ShownJob & { state: Extract<JobState, { type: 'done' }> };

/** What there is of a completed transcript alone. */
const ofDone =
  (answer: (job: Done, means: JobMeans) => Answer) =>
  (job: ShownJob, means: JobMeans): Answer =>
    job.state.type === 'done'
      ? answer(job as Done, means)
      : jsonAnswer(
          { error: `This transcript has the status ${STATUS[job.state.type]}, and has to be completed first.` },
          400,
        );

const partsAs = (name: 'sentences' | 'paragraphs') =>
  ofDone(({ id, state: { heard } }) => {
    const { transcription } = heard;
    const turns = turnsOf(transcription);
    const parts = (name === 'sentences' ? turns.flatMap(sentencesOf) : turns).map(partOf);
    const audio_duration = Math.round(transcription.duration);
    return jsonAnswer({ id, confidence: confidenceOf({ words: parts }), audio_duration, [name]: parts });
  });

const captionsAs = (format: 'srt' | 'vtt', type?: string) =>
  ofDone(({ state }, { query, captions }) => {
    const asked = query.get('chars_per_caption') ?? '';
    const charactersMax = asked === '' ? undefined : Number(asked);
    if (charactersMax !== undefined && !(Number.isInteger(charactersMax) && charactersMax >= 1))
      return jsonAnswer({ error: '`chars_per_caption` is a number of characters, such as 32.' }, 400);
    const layout = { charactersMax, nameOf: (speaker: number) => `Speaker ${letterOf(speaker)}` };
    return textAnswer(captions(state.heard.transcription, format, layout), type);
  });

/** Words, numbers and phrases, as they are said one after the other. */
const search = ofDone(({ id, state }, { query }) => {
  const terms = (query.get('words') ?? '').split(',').map((term) => term.trim().split(/\s+/).map(bareWord));
  if (terms.every(([first]) => first === ''))
    return jsonAnswer({ error: '`words` is missing: name words or phrases, separated by commas.' }, 400);
  if (terms.length > TERMS_MAX)
    return jsonAnswer({ error: `\`words\` has ${terms.length} terms. Send at most ${TERMS_MAX}.` }, 400);
  const words = turnsOf(state.heard.transcription).flatMap((turn) => wordsOf(turn));
  const said = words.map(({ word }) => bareWord(word));
  const matches = terms.flatMap((term) => {
    const indexes = said.flatMap((_, at) => (term.every((word, more) => said[at + more] === word) ? [at] : []));
    const timestamps = indexes.map((at) => [
      millisecondsOf((words[at] as HeardWord).start),
      millisecondsOf((words[at + term.length - 1] as HeardWord).end),
    ]);
    return indexes.length === 0 ? [] : [{ text: term.join(' '), count: indexes.length, timestamps, indexes }];
  });
  return jsonAnswer({ id, total_count: matches.reduce((sum, { count }) => sum + count, 0), matches });
});

const listed = ({ id, asked, state, createdAt, endedAt }: ShownJob, url: (path: string) => string): JsonObject => ({
  ...{ id, status: STATUS[state.type], resource_url: url(`${TRANSCRIPTS}/${id}`), audio_url: asked.audio_url },
  ...{ created: createdAt.toISOString(), completed: endedAt?.toISOString() ?? null },
  error: state.type === 'failed' ? state.refusal.message : null,
});

/** `prev_url` leads to older ones, as at AssemblyAI. */
function listOf(all: readonly ShownJob[], { query, url }: JobMeans): Answer {
  const from = all.find(({ id }) => id === query.get('before_id'));
  const { items, limit, last } = pageOf(all, query.get('limit'), from && placeOf(from));
  const at = (job: ShownJob | undefined) =>
    url(`${TRANSCRIPTS}?limit=${limit}${job === undefined ? '' : `&before_id=${job.id}`}`);
  const page_details = {
    ...{ limit, result_count: items.length, current_url: at(from) },
    ...{ prev_url: last === undefined ? null : at(last), next_url: null },
  };
  return jsonAnswer({ page_details, transcripts: items.map((job) => listed(job, url)) });
}

const shown = (job: ShownJob): Answer => jsonAnswer(transcriptOf(job));

export const jobs: JobEndpoints = {
  [`POST ${UPLOADS}`]: {
    does: 'keep',
    takes: 'body',
    answer: ({ id }, { url }) => jsonAnswer({ upload_url: url(`${UPLOADS}/${id}`) }),
  },
  [`POST ${TRANSCRIPTS}`]: { does: 'ask', open, answer: shown },
  [`GET ${TRANSCRIPTS}`]: { does: 'list', answer: listOf },
  [`GET ${TRANSCRIPTS}/:id`]: { does: 'show', answer: shown },
  [`GET ${TRANSCRIPTS}/:id/sentences`]: { does: 'show', answer: partsAs('sentences') },
  [`GET ${TRANSCRIPTS}/:id/paragraphs`]: { does: 'show', answer: partsAs('paragraphs') },
  [`GET ${TRANSCRIPTS}/:id/srt`]: { does: 'show', answer: captionsAs('srt') },
  [`GET ${TRANSCRIPTS}/:id/vtt`]: { does: 'show', answer: captionsAs('vtt', 'text/vtt') },
  [`GET ${TRANSCRIPTS}/:id/word-search`]: { does: 'show', answer: search },
  [`DELETE ${TRANSCRIPTS}/:id`]: {
    does: 'remove',
    answer: (job) => jsonAnswer(deleted(transcriptOf(job))),
  },
};
