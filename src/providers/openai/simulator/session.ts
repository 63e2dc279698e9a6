// The settings of a simulated Realtime transcription session: what an update may say, and what becomes of them.
import { Type } from '@sinclair/typebox';
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value';
import { isLive, LIVE_RATE, traitsOf } from '../models.ts';
import { Delay, NoiseReduction, SemanticVad, ServerVad } from '../options.ts';

const strict = { additionalProperties: false };

/** Members of turn detection that mean something in conversations alone, and are taken everywhere. */
const Conversational = {
  create_response: Type.Optional(Type.Boolean()),
  interrupt_response: Type.Optional(Type.Boolean()),
};

const TurnDetection = Type.Union([
  Type.Object({ ...ServerVad.properties, ...Conversational }, strict),
  Type.Object({ ...SemanticVad.properties, ...Conversational }, strict),
  Type.Null(),
]);

const Update = Type.Object(
  {
    type: Type.Literal('transcription'),
    audio: Type.Optional(
      Type.Object(
        {
          input: Type.Optional(
            Type.Object(
              {
                format: Type.Optional(
                  Type.Object({ type: Type.Literal('audio/pcm'), rate: Type.Literal(LIVE_RATE) }, strict),
                ),
                transcription: Type.Optional(
                  Type.Object(
                    {
                      model: Type.Optional(Type.String()),
                      language: Type.Optional(Type.String()),
                      languages: Type.Optional(Type.Array(Type.String())),
                      keywords: Type.Optional(Type.Array(Type.String())),
                      prompt: Type.Optional(Type.String()),
                      delay: Type.Optional(Delay),
                    },
                    strict,
                  ),
                ),
                turn_detection: Type.Optional(TurnDetection),
                noise_reduction: Type.Optional(
                  Type.Union([
                    Type.Object({ type: NoiseReduction, strength: Type.Optional(Type.Number()) }, strict),
                    Type.Null(),
                  ]),
                ),
              },
              strict,
            ),
          ),
        },
        strict,
      ),
    ),
    include: Type.Optional(Type.Array(Type.Literal('item.input_audio_transcription.logprobs'))),
  },
  strict,
);

/** What a session is set to. `model` is undefined until an update names one. */
export interface SessionSettings {
  model: string | undefined;
  language: string | undefined;
  turnDetection: Readonly<Record<string, unknown>> | null;
  /** Everything, as the server tells it. */
  session: Readonly<Record<string, unknown>>;
}

/** An `error` of OpenAI's, less the id of the event it answers. */
export interface SessionFault {
  type: 'invalid_request_error';
  code: string;
  message: string;
  param: string | null;
}

type Members = Readonly<Record<string, unknown>>;

const SERVER_VAD = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 };

/** The settings of a session that nobody has configured. */
export function freshSettings(id: string): SessionSettings {
  const input = {
    format: { type: 'audio/pcm', rate: LIVE_RATE },
    transcription: null,
    noise_reduction: null,
    turn_detection: SERVER_VAD,
  };
  const session = {
    type: 'transcription',
    object: 'realtime.transcription_session',
    id: `sess_${id}`,
    audio: { input },
    include: null,
  };
  return { model: undefined, language: undefined, turnDetection: SERVER_VAD, session };
}

/** The settings after an update, or what is wrong with it. What an update does not name stays as it is. */
export function updated(settings: SessionSettings, update: unknown): SessionSettings | { fault: SessionFault } {
  const first = Value.Errors(Update, update).First();
  if (first !== undefined) return { fault: shapeFault(first) };
  const { audio, include } = update as { audio?: { input?: Members }; include?: unknown };
  const input = audio?.input ?? {};
  const known = inputOf(settings);
  const transcription = { ...membersOf(known.transcription), ...membersOf(input.transcription) };
  const model = typeof transcription.model === 'string' ? transcription.model : undefined;
  const fault = modelFault(model, transcription, input.turn_detection);
  if (fault !== undefined) return { fault };
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

const inputOf = ({ session }: SessionSettings): Members => (session.audio as { input: Members }).input;

const membersOf = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {});

function turnDetectionOf(model: string | undefined, asked: unknown, before: Members | null): Members | null {
  if (asked === null || (model !== undefined && traitsOf(model)?.serverTurns === false)) return null;
  if (asked === undefined) return before;
  const detection = asked as Members;
  return detection.type === 'server_vad' ? { ...SERVER_VAD, ...detection } : detection;
}

/** What one model takes and another does not. */
function modelFault(model: string | undefined, transcription: Members, detection: unknown): SessionFault | undefined {
  if (model === undefined) {
    return faultOf(
      'missing_required_parameter',
      'audio.input.transcription.model',
      'A transcription model is required.',
    );
  }
  const traits = isLive(model) ? traitsOf(model) : undefined;
  const at = (member: string) => `audio.input.transcription.${member}`;
  if (traits === undefined) return faultOf('invalid_model', at('model'), `The model '${model}' does not exist.`);
  const refused = (member: string) =>
    faultOf('invalid_value', at(member), `The model '${model}' does not take '${member}'.`);
  if (!traits.hints && transcription.languages !== undefined) return refused('languages');
  if (!traits.hints && transcription.keywords !== undefined) return refused('keywords');
  if (model === 'gpt-realtime-whisper' && transcription.prompt !== undefined) return refused('prompt');
  if (traits.serverTurns && transcription.delay !== undefined) return refused('delay');
  if (!traits.serverTurns && detection !== undefined && detection !== null) {
    return faultOf(
      'invalid_value',
      'audio.input.turn_detection',
      `Turn detection is not supported for the model '${model}': it must be null.`,
    );
  }
  return undefined;
}

function shapeFault({ type, path, message }: ValueError): SessionFault {
  const member = path.slice(1).replaceAll('/', '.');
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    return faultOf('unknown_parameter', member, `Unknown parameter: 'session.${member}'.`);
  }
  if (type === ValueErrorType.ObjectRequiredProperty) {
    return faultOf('missing_required_parameter', member, `Missing required parameter: 'session.${member}'.`);
  }
  return faultOf('invalid_value', member, `Invalid value for 'session.${member}': ${message}.`);
}

const faultOf = (code: string, member: string, message: string): SessionFault => ({
  type: 'invalid_request_error',
  code,
  message,
  param: member === '' ? 'session' : `session.${member}`,
});
