// What clients of OpenAI ask of a transcription session, in both shapes of its protocol, and how they are told what holds.
import { type TObject, Type } from '@sinclair/typebox';
import { SAMPLE_RATE } from '../../../api/listen.ts';
import { SLUG_LENGTH_MAX } from '../../../api/slug.ts';
import { PROMPT_LENGTH_MAX } from '../../../api/vocabulary.ts';
import type { ClientRequest } from '../../compat/dialect.ts';
import { ownParameters, setAll } from '../../compat/params.ts';
import { type JsonObject, numberIn, objectIn, textIn } from '../../kit/json.ts';
import { faultIn, members, oneOf } from '../../kit/simulator/checks.ts';
import { invalid, type Refusal } from '../../kit/simulator/openai-answers.ts';
import { SERVER_VAD, sessionMessage } from '../messages.ts';
import { LIVE_RATE } from '../models.ts';
import { Delay, NoiseReduction, SemanticVad, ServerVad } from '../options.ts';

/** Members that are not known mean nothing here: what holds is told, and they are not in it. */
const lenient = (required: TObject['properties'], optional: TObject['properties']) =>
  members(required, optional, 'ignored');

const text = Type.String({ maxLength: 100 });
const texts = Type.Array(text, { maxItems: 500 });
const Transcription = lenient(
  {},
  {
    model: Type.String({ maxLength: SLUG_LENGTH_MAX }),
    language: text,
    prompt: Type.String({ maxLength: PROMPT_LENGTH_MAX }),
    delay: Delay,
    languages: texts,
    keywords: texts,
  },
);
const orNull = <Schema extends TObject>(...schemas: Schema[]) => Type.Union([...schemas, Type.Null()]);
const Detection = orNull(
  ...[ServerVad, SemanticVad].map(({ properties }) => Type.Object({ ...properties }, { additionalProperties: true })),
);
const Input = lenient(
  {},
  {
    format: Type.Union([
      lenient(
        { type: Type.Literal('audio/pcm') },
        { rate: Type.Integer({ minimum: 8_000, maximum: SAMPLE_RATE.max }) },
      ),
      lenient({ type: oneOf('audio/pcmu', 'audio/pcma') }, {}),
    ]),
    transcription: orNull(Transcription),
    turn_detection: Detection,
    noise_reduction: orNull(lenient({ type: NoiseReduction }, {})),
  },
);

/** What each member of an input was called in the beta. */
export const BETA_NAMES = {
  format: 'input_audio_format',
  transcription: 'input_audio_transcription',
  turn_detection: 'turn_detection',
  noise_reduction: 'input_audio_noise_reduction',
} as const;
const BETA_FORMATS: Readonly<Record<string, string>> = {
  pcm16: 'audio/pcm',
  g711_ulaw: 'audio/pcmu',
  g711_alaw: 'audio/pcma',
};
const WRONG_BETA_FORMAT = `Invalid value for 'session.input_audio_format': it is one of ${Object.keys(BETA_FORMATS).join(', ')}.`;
const ENCODINGS = { 'audio/pcm': 'linear16', 'audio/pcmu': 'mulaw', 'audio/pcma': 'alaw' } as const;
const G711_RATE = 8_000;

/** Of one session, in the words of the current shape. */
export interface Settings {
  format: { type: keyof typeof ENCODINGS; rate?: number };
  transcription: JsonObject;
  turn_detection: JsonObject | null;
  noise_reduction: JsonObject | null;
}

/** Of a session that nobody has configured. `rate`: of linear16, where a client that may say so in its address does. */
export const freshSettings = (query: URLSearchParams): Settings => ({
  format: { type: 'audio/pcm', rate: numberIn(Number(query.get('sample_rate') ?? undefined)) ?? LIVE_RATE },
  transcription: {},
  turn_detection: SERVER_VAD,
  noise_reduction: null,
});

/** After an update, or what is wrong with it. What an update does not name stays as it is. */
export function updated(settings: Settings, session: unknown): Settings | Refusal {
  const asked = objectIn(session);
  if (asked !== session) return invalid('session', '`session` is an object with what is to change.');
  if (asked.type !== undefined && asked.type !== 'transcription')
    return invalid('session.type', 'Only transcription is served: `type` is "transcription".', 'invalid_parameter');
  const isBeta = !('audio' in asked);
  const input = isBeta ? inputOfBeta(asked) : inputIn(asked.audio);
  if (input === undefined)
    return invalid('session.audio', '`session.audio` is an object such as {"input": {"transcription": {…}}}.');
  const fault = faultIn(Input, input);
  if (fault !== undefined) {
    const [name = '', ...inner] = fault.member.split('.');
    if (isBeta && name === 'format') return invalid(`session.${BETA_NAMES.format}`, WRONG_BETA_FORMAT);
    const outer = isBeta ? (BETA_NAMES[name as keyof typeof BETA_NAMES] ?? name) : `audio.input.${name}`;
    const param = ['session', outer, ...inner].join('.').slice(0, 120);
    return invalid(param, `Invalid value for '${param}': ${fault.message}.`);
  }
  const { format, transcription, turn_detection: detection, noise_reduction: noise } = input as Partial<Settings>;
  return {
    format: format === undefined ? settings.format : formatOf(format, settings.format),
    transcription: { ...settings.transcription, ...picked(transcription, Transcription) },
    turn_detection: detection === undefined ? settings.turn_detection : detectionOf(detection),
    noise_reduction: noise === undefined ? settings.noise_reduction : noise && { type: noise.type },
  };
}

function inputIn(audio: unknown): JsonObject | undefined {
  const { input = {} } = objectIn(audio);
  return objectIn(audio) === audio && objectIn(input) === input ? objectIn(input) : undefined;
}

/** The members that are there, each under its name of the current shape. */
function inputOfBeta(asked: JsonObject): JsonObject {
  const there = Object.entries(BETA_NAMES).flatMap(([name, beta]) =>
    asked[beta] === undefined ? [] : [[name, asked[beta]] as const],
  );
  const input = Object.fromEntries(there);
  const format = textIn(input.format);
  return format === undefined ? input : { ...input, format: { type: BETA_FORMATS[format] ?? format } };
}

const formatOf = ({ type, rate }: Settings['format'], before: Settings['format']): Settings['format'] =>
  type === 'audio/pcm' ? { type, rate: rate ?? before.rate ?? LIVE_RATE } : { type };

function detectionOf(asked: JsonObject | null): JsonObject | null {
  if (asked === null) return null;
  return picked(asked, asked.type === 'semantic_vad' ? SemanticVad : ServerVad);
}

const picked = (asked: JsonObject | null | undefined, { properties }: TObject): JsonObject =>
  Object.fromEntries(Object.entries(asked ?? {}).filter(([name]) => Object.hasOwn(properties, name)));

/** Bytes of a second of audio. */
export const bytesPerSecond = ({ format: { rate } }: Settings): number => (rate === undefined ? G711_RATE : 2 * rate);

/** @param before in force as the session began, whose defaults are not asked for */
export function requestOf(
  { format, transcription, ...input }: Settings,
  query: URLSearchParams,
  before: Settings,
): ClientRequest {
  const { language, prompt, delay, languages, keywords } = transcription as Readonly<Record<string, string>>;
  const parameters = ownParameters(query);
  setAll(parameters, {
    encoding: ENCODINGS[format.type],
    sample_rate: String(format.rate ?? G711_RATE),
    language: language || undefined,
    prompt: prompt || undefined,
    languages: languages && JSON.stringify(languages),
    keyterms: keywords && JSON.stringify(keywords),
    turn_events: 'true',
  });
  const { turn_detection, noise_reduction } = input;
  const own = {
    ...(turn_detection === before.turn_detection ? {} : { turn_detection }),
    ...(noise_reduction === null ? {} : { noise_reduction: noise_reduction.type }),
    ...(delay === undefined ? {} : { delay }),
  };
  return { model: textIn(transcription.model) ?? query.get('model') ?? undefined, parameters, own };
}

/** The same, of a session that has begun: its audio stays as it is. */
export function changedSettings(settings: Settings, session: unknown): Settings | Refusal {
  const after = updated(settings, session);
  if ('code' in after || JSON.stringify(after.format) === JSON.stringify(settings.format)) return after;
  const isBeta = !('audio' in objectIn(session));
  const param = isBeta ? `session.${BETA_NAMES.format}` : 'session.audio.input.format';
  const words = `'${param}' cannot be changed once the session has begun, and nothing of the update is. Open another session.`;
  return invalid(param, words, 'unsupported_parameter');
}

/** The session as its client is told of it. */
export function toldSession({ format, transcription, ...input }: Settings, id: string, isBeta: boolean): object {
  const isModelled = Object.keys(transcription).length > 0;
  const told = { format, transcription: isModelled ? transcription : null, ...input };
  if (!isBeta) return sessionMessage(id, told);
  const [betaFormat] = Object.entries(BETA_FORMATS).find(([, type]) => type === format.type) ?? [];
  return {
    ...{ object: 'realtime.transcription_session', id },
    input_audio_format: betaFormat,
    input_audio_transcription: told.transcription,
    turn_detection: told.turn_detection,
    input_audio_noise_reduction: told.noise_reduction,
    include: null,
    client_secret: null,
  };
}
