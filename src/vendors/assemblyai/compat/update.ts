// What an `UpdateConfiguration` changes of a session.
import { Type } from '@sinclair/typebox';
import type { ClientRequest } from '../../compat/dialect.ts';
import { badRequest, withFlagsAt } from '../../compat/params.ts';
import { type JsonObject, textIn } from '../../kit/json.ts';
import { faultIn, members } from '../../kit/simulator/checks.ts';
import { languagesIn, RENAMED } from './asked.ts';

const texts = Type.Array(Type.String());
/** What all models know. */
const Common = members({}, { keyterms_prompt: texts, prompt: Type.String(), language_codes: texts }, 'ignored');
/** Options of AssemblyAI's own models. */
const OWN = [
  ...['end_of_turn_confidence_threshold', 'min_turn_silence', 'max_turn_silence', 'vad_threshold', 'format_turns'],
  ...['filter_profanity', 'agent_context', 'interruption_delay'],
];

/** What is not named stays; an empty list or text is none. Throws a Refusal. */
export function updated({ model, parameters, own }: ClientRequest, said: JsonObject): ClientRequest {
  const message = withFlagsAt(said, ['format_turns', 'filter_profanity']);
  const fault = faultIn(Common, message);
  if (fault !== undefined) {
    const param = fault.member.slice(0, 120);
    throw badRequest(param, `\`${param}\` cannot be updated so: ${fault.message}. Nothing of the message is changed.`);
  }
  const { keyterms_prompt: terms, prompt, language_codes: codes } = message as Readonly<Record<string, string[]>>;
  const next = new Map(parameters);
  if (terms !== undefined) setOrClear(next, 'keyterms', terms.length === 0 ? undefined : JSON.stringify(terms));
  if (prompt !== undefined) setOrClear(next, 'prompt', textIn(prompt) || undefined);
  if (codes !== undefined) {
    for (const name of ['language', 'languages']) next.delete(name);
    for (const [name, value] of codes.length === 0 ? [] : languagesIn(codes)) next.set(name, value);
  }
  const asked = Object.entries(message).map(([name, value]) => [RENAMED[name] ?? name, value] as const);
  return {
    model,
    parameters: next,
    own: { ...own, ...Object.fromEntries(asked.filter(([name]) => OWN.includes(name))) },
  };
}

/** Members that nothing here knows; at most ten of them are named. */
export const unservedIn = (message: JsonObject): string[] =>
  Object.keys(message)
    .filter(
      (name) => name !== 'type' && !Object.hasOwn(Common.properties, name) && !OWN.includes(RENAMED[name] ?? name),
    )
    .slice(0, 10)
    .map((name) => name.slice(0, 40));

function setOrClear(to: Map<string, string>, name: string, value: string | undefined): void {
  if (value === undefined) to.delete(name);
  else to.set(name, value);
}
