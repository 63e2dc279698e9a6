// What `provider_params` of a model may be. An option that the model does not have may be a vendor's name of a parameter that every
// model understands: the refusal names that parameter.
import type { TSchema } from '@sinclair/typebox';
import { faultOf } from '../../api/accepted.ts';
import { printable, refuse } from '../../api/errors.ts';
import type { ModelCard } from '../../vendors/provider.ts';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  diarization: ['diarize', 'diarization', 'speaker_labels', 'speaker_diarization', 'enable_speaker_diarization'],
  language: ['language', 'language_code', 'language_hint', 'lang'],
  languages: ['languages', 'language_hints', 'language_codes', 'language_config'],
  keyterms: [
    ...['keyterm', 'keyterms', 'keyterms_prompt', 'keywords', 'word_boost', 'boost_param'],
    ...['additional_vocab', 'custom_vocabulary', 'vocabulary', 'biased_keywords'],
  ],
  redact: ['redact', 'redact_pii', 'redact_pii_policies', 'pii_redaction'],
  prompt: ['prompt', 'initial_prompt'],
};

const PARAMETER_OF = new Map(
  Object.entries(NAMES).flatMap(([parameter, names]) => names.map((name) => [name, parameter] as const)),
);

/** Throws a Refusal that names the option at fault. */
export function checkParams(
  card: ModelCard,
  schema: TSchema,
  params: Readonly<Record<string, unknown>>,
  param: string,
): void {
  const fault = faultOf(schema, params);
  if (fault === undefined) return;
  const path = printable(fault.path.join('.'));
  const accepted = Object.keys((schema as { properties?: object }).properties ?? {}).join(', ');
  const named = `\`provider_params${path === '' ? '' : `.${path}`}\``;
  const problem = {
    unknown: 'is not an option of',
    missing: 'is needed by',
    invalid: 'has a value that is not accepted by',
  };
  const what = fault.kind === 'unknown' ? commonParameterHint(path) : ` Send ${fault.accepts}.`;
  throw refuse(
    'invalid_provider_params',
    `${named} ${problem[fault.kind]} ${card.id}.${what} It accepts ${accepted || 'none'}.`,
    {
      param: path === '' ? param : `${param}.${path}`,
    },
  );
}

/** A sentence about an option of `provider_params` that the model does not have; empty where no parameter means the same. */
function commonParameterHint(option: string): string {
  const parameter = PARAMETER_OF.get(option.toLowerCase());
  return parameter === undefined
    ? ''
    : ` Send \`${parameter}\` beside \`provider_params\` instead: it is the same parameter for every model.`;
}
