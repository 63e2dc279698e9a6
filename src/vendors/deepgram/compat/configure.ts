// What a `Configure` of Flux changes of a session, and how its client is told what holds.
import { type TSchema, Type } from '@sinclair/typebox';
import type { ClientRequest } from '../../compat/dialect.ts';
import { badRequest, withFlagsAt } from '../../compat/params.ts';
import { type JsonObject, jsonOf, listIn, objectIn } from '../../kit/json.ts';
import { faultIn, members } from '../../kit/simulator/checks.ts';
import { isFlux } from '../models.ts';
import { options } from '../options.ts';

const own = options.schema('flux-general-multi').properties;
const THRESHOLDS = ['eager_eot_threshold', 'eot_threshold', 'eot_timeout_ms'] as const;
const texts = Type.Array(Type.String());

const Configure = members(
  { type: Type.Literal('Configure') },
  {
    thresholds: members({}, Object.fromEntries(THRESHOLDS.map((name) => [name, own[name] as TSchema]))),
    keyterms: texts,
    language_hints: texts,
    numerals: Type.Boolean(),
  },
);

/** What is not named stays; an empty list is none. Throws a Refusal. */
export function configured({ model, parameters, own }: ClientRequest, said: JsonObject): ClientRequest {
  const message = withFlagsAt(said, ['numerals']);
  const fault = faultIn(Configure, message);
  if (fault !== undefined) {
    const param = fault.member.slice(0, 120);
    const known = 'thresholds, keyterms, language_hints and numerals are taken.';
    throw badRequest(param, `\`${param}\` cannot be configured so: ${fault.message}. ${known}`);
  }
  const { keyterms, language_hints: hints, numerals, thresholds } = message;
  const next = new Map(parameters);
  for (const [name, list] of [['keyterms', keyterms] as const, ['languages', hints] as const]) {
    if (listIn(list).length > 0) next.set(name, JSON.stringify(list));
    else if (list !== undefined) next.delete(name);
  }
  return {
    model,
    parameters: next,
    own: { ...own, ...objectIn(thresholds), ...(numerals === undefined ? {} : { numerals }) },
  };
}

/** @param heardBy the model: others than Flux have no thresholds */
export function toldConfiguration({ parameters, own }: ClientRequest, heardBy: string): object {
  const isOwn = heardBy.startsWith('deepgram/') && isFlux(heardBy.replace('deepgram/', ''));
  const named = THRESHOLDS.filter((name) => isOwn && own[name] !== undefined);
  const hints = parameters.get('languages');
  return {
    thresholds: Object.fromEntries(named.map((name) => [name, own[name]])),
    keyterms: listIn(jsonOf(parameters.get('keyterms') ?? '[]')),
    ...(hints === undefined ? {} : { language_hints: listIn(jsonOf(hints)) }),
  };
}
