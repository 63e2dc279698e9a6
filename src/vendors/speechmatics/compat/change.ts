// What a `SetRecognitionConfig` changes of a session.

import { badRequest } from '../../compat/params.ts';
import { type JsonObject, objectIn } from '../../kit/json.ts';

/** What Speechmatics changes in mid-session, and the language, which it does not. */
const CHANGEABLE = [
  ...['language', 'max_delay', 'max_delay_mode', 'audio_filtering_config', 'conversation_config', 'enable_partials'],
];

/** The message that the session might have begun with. What is not named stays. Throws a Refusal. */
export function changedConfig(start: JsonObject, message: JsonObject): JsonObject {
  const asked = objectIn(message.transcription_config);
  if (asked !== message.transcription_config) throw badRequest('transcription_config', SHAPE);
  const { language = 'en' } = asked;
  if (typeof language !== 'string' || language === '')
    throw badRequest('language', '`language` is a code, such as en.');
  const before = objectIn(start.transcription_config);
  const changes = CHANGEABLE.filter((name) => asked[name] !== undefined).map((name) => [name, asked[name]] as const);
  return { ...start, transcription_config: { ...before, ...Object.fromEntries(changes) } };
}

/** At most ten of them are named. */
export const unchangeableIn = ({ transcription_config }: JsonObject): string[] =>
  Object.keys(objectIn(transcription_config))
    .filter((name) => !CHANGEABLE.includes(name))
    .slice(0, 10)
    .map((name) => name.slice(0, 40));

const SHAPE = 'The message is {"message":"SetRecognitionConfig","transcription_config":{…}}, with what is to change.';
