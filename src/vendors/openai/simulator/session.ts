// The settings of a simulated Realtime transcription session: what an update may say, and what becomes of them.
import { Type } from '@sinclair/typebox';
import { type JsonObject, objectOf } from '../../kit/json.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { faultIn, members, oneOf } from '../../kit/simulator/checks.ts';
import { invalid, missing, type Refusal, refuse } from '../../kit/simulator/openai-answers.ts';
import { Remembered } from '../../kit/simulator/routes.ts';
import { SERVER_VAD, secretMessage, sessionMessage } from '../messages.ts';
import { isLive, LIVE_RATE, traitsOf } from '../models.ts';

const text = Type.String();
const texts = Type.Array(text);
/** Members of turn detection that mean something in conversations alone, and are taken everywhere. */
const conversational = { create_response: Type.Boolean(), interrupt_response: Type.Boolean() };

export const ServerVad = members(
  { type: Type.Literal('server_vad') },
  {
    threshold: Type.Number({ minimum: 0, maximum: 1 }),
    prefix_padding_ms: Type.Integer({ minimum: 0 }),
    silence_duration_ms: Type.Integer({ minimum: 0 }),
    ...conversational,
  },
);
const SemanticVad = members(
  { type: Type.Literal('semantic_vad') },
  { eagerness: oneOf('low', 'medium', 'high', 'auto'), ...conversational },
);

const Transcription = members(
  {},
  {
    ...{ model: text, language: text, languages: texts, keywords: texts, prompt: text },
    delay: oneOf('minimal', 'low', 'medium', 'high', 'xhigh'),
  },
);
const NoiseReduction = members({ type: oneOf('near_field', 'far_field') }, { strength: Type.Number() });
const Input = members(
  {},
  {
    format: members({ type: Type.Literal('audio/pcm'), rate: Type.Literal(LIVE_RATE) }, {}),
    transcription: Transcription,
    turn_detection: Type.Union([ServerVad, SemanticVad, Type.Null()]),
    noise_reduction: Type.Union([NoiseReduction, Type.Null()]),
  },
);
const Update = members(
  { type: Type.Literal('transcription') },
  {
    audio: members({}, { input: Input }),
    include: Type.Array(Type.Literal('item.input_audio_transcription.logprobs')),
  },
);

/** What a session is set to. `model` is undefined until an update names one. */
export interface SessionSettings {
  model: string | undefined;
  language: string | undefined;
  turnDetection: JsonObject | null;
  /** Everything, as the server tells it. */
  session: JsonObject;
}

/** The settings of a session that nobody has configured. */
export function freshSettings(id: string): SessionSettings {
  const input = {
    format: { type: 'audio/pcm', rate: LIVE_RATE },
    transcription: null,
    noise_reduction: null,
    turn_detection: SERVER_VAD,
  };
  const session = sessionMessage(`sess_${id}`, input);
  return { model: undefined, language: undefined, turnDetection: SERVER_VAD, session };
}

/** The settings after an update, or what is wrong with it. What an update does not name stays as it is. */
export function updated(settings: SessionSettings, update: unknown): SessionSettings | Refusal {
  const wrong = shapeFault(update);
  if (wrong !== undefined) return wrong;
  const { audio, include } = update as { audio?: { input?: JsonObject }; include?: unknown };
  const input = audio?.input ?? {};
  const known = (settings.session.audio as { input: JsonObject }).input;
  const transcription = { ...(known.transcription as JsonObject), ...(input.transcription as JsonObject) };
  const model = transcription.model as string | undefined;
  const fault = modelFault(model, transcription, input.turn_detection);
  if (fault !== undefined) return fault;
  const turnDetection = turnDetectionOf(model, input.turn_detection, settings.turnDetection);
  const merged = { ...known, ...input, transcription, turn_detection: turnDetection };
  const { language, languages } = transcription as { language?: string; languages?: string[] };
  return {
    model,
    language: language ?? languages?.[0],
    turnDetection,
    session: { ...settings.session, audio: { input: merged }, ...(include === undefined ? {} : { include }) },
  };
}

function turnDetectionOf(model: string | undefined, asked: unknown, before: JsonObject | null): JsonObject | null {
  if (asked === null || (model !== undefined && traitsOf(model)?.serverTurns === false)) return null;
  if (asked === undefined) return before;
  const detection = asked as JsonObject;
  return detection.type === 'server_vad' ? { ...SERVER_VAD, ...detection } : detection;
}

/** What one model takes and another does not. */
function modelFault(model: string | undefined, transcription: JsonObject, detection: unknown): Refusal | undefined {
  const at = (member: string) => `session.audio.input.transcription.${member}`;
  if (model === undefined) return missing(at('model'));
  const traits = isLive(model) ? traitsOf(model) : undefined;
  if (traits === undefined) return invalid(at('model'), `The model '${model}' does not exist.`, 'invalid_model');
  const refused = [
    ...(traits.hints ? [] : ['languages', 'keywords']),
    ...(model === 'gpt-realtime-whisper' ? ['prompt'] : []),
    ...(traits.serverTurns ? ['delay'] : []),
  ].find((member) => transcription[member] !== undefined);
  if (refused !== undefined) return invalid(at(refused), `The model '${model}' does not take '${refused}'.`);
  if (traits.serverTurns || detection === undefined || detection === null) return undefined;
  const message = `Turn detection is not supported for the model '${model}': it must be null.`;
  return invalid('session.audio.input.turn_detection', message);
}

function shapeFault(update: unknown): Refusal | undefined {
  const fault = faultIn(Update, update);
  if (fault === undefined) return undefined;
  const { kind, member, message } = fault;
  const param = member === '' ? 'session' : `session.${member}`;
  if (kind === 'unknown') return invalid(param, `Unknown parameter: '${param}'.`, 'unknown_parameter');
  return kind === 'missing' ? missing(param) : invalid(param, `Invalid value for '${param}': ${message}.`);
}

const SECONDS = { min: 10, max: 7_200, usual: 600 };

interface Secret {
  settings: SessionSettings;
  expiresAt: number;
}
const secretsOf = (tools: SimulatorTools) => tools.shared(() => new Remembered<Secret>());

/** `POST /v1/realtime/client_secrets`. Times are those of the simulator's clock, which is not a wall clock. */
export function writeSecret({ body }: SimulatedRequest, tools: SimulatorTools): SimulatedAnswer {
  const { session, expires_after: expiry } = objectOf(Buffer.from(body).toString('utf8'));
  const { seconds = SECONDS.usual } = { ...(expiry as { seconds?: unknown } | undefined) };
  if (typeof seconds !== 'number' || !(seconds >= SECONDS.min && seconds <= SECONDS.max))
    return refuse(invalid('expires_after.seconds', `Expected seconds between ${SECONDS.min} and ${SECONDS.max}.`));
  const settings = updated(freshSettings(tools.newId()), session);
  if ('code' in settings) return refuse(settings);
  const expiresAt = Math.floor(tools.clock.now() / 1000) + seconds;
  const value = `ek_${tools.newId()}`;
  secretsOf(tools).set(value, { settings, expiresAt });
  return { status: 200, body: { ...secretMessage(value, expiresAt), session: settings.session } };
}

/** The session of a secret; undefined for what is not a secret, or has expired. */
export function readSecret(key: string, tools: SimulatorTools): SessionSettings | undefined {
  const secret = secretsOf(tools).get(key);
  return secret !== undefined && tools.clock.now() < secret.expiresAt * 1000 ? secret.settings : undefined;
}

export function usageOf(model: string, seconds: number, text: string): Readonly<Record<string, unknown>> {
  if (!model.startsWith('gpt-4o')) return { type: 'duration', seconds: Math.ceil(seconds) };
  const audio = Math.round(seconds * 10);
  const output = text.split(' ').length;
  const details = { input_token_details: { audio_tokens: audio, text_tokens: 0 } };
  return { type: 'tokens', input_tokens: audio, output_tokens: output, total_tokens: audio + output, ...details };
}
