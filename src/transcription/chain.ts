// The models that a form names, checked against all that it asks of them, and what of it each of them would not take.
import type { Candidate } from '../api/listen.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import { type ChainDependencies, type ChainMember, type Degradation, resolveChain } from '../failover/chain.ts';
import { fieldOf, takesField, withOpenaiOptions } from './model-fields.ts';
import { leftOut, strictly, timesMissing } from './shortcomings.ts';

/** The chain of a request, checked. Throws a Refusal naming the field at fault. */
export async function chainOf(
  fields: TranscriptionRequest,
  organisationId: string,
  dependencies: ChainDependencies,
): Promise<{ members: ChainMember[]; warnings: Degradation[] }> {
  const chain = await resolveChain(
    {
      mode: 'batch',
      organisationId,
      model: fields.model,
      providerParams: withOpenaiOptions(fields.model, fields.providerParams, fields, dependencies) ?? {},
      fallbacks: fields.fallbacks.map((fallback) => mapped(fallback, fields, dependencies)),
      // The file's own rate is known only when its header was read; the job converts to what the model takes.
      sampleRate: 16_000,
      language: fields.language,
      diarization: fields.diarization,
      interimResults: false,
      strict: fields.strict,
    },
    dependencies,
  );
  const faults = [
    ...chain.members.flatMap((member) => [...unmapped(fields, member), ...timesMissing(fields, member)]),
    ...leftOut(fields),
  ];
  if (fields.strict && faults[0] !== undefined) throw strictly(faults[0]);
  return chain;
}

function mapped(fallback: Candidate, fields: TranscriptionRequest, dependencies: ChainDependencies): Candidate {
  const params = withOpenaiOptions(fallback.model, fallback.provider_params, fields, dependencies);
  return params === undefined ? fallback : { ...fallback, provider_params: { ...params } };
}

/** What of the form the model does not take. */
export function unmapped(fields: TranscriptionRequest, member: ChainMember): Degradation[] {
  const names = [
    ...Object.keys(fields.openaiOptions)
      .filter((option) => !takesField(member, option))
      .map(fieldOf),
    ...(fields.prompt && !takesField(member, 'prompt') ? ['prompt'] : []),
    ...(fields.temperature && !takesField(member, 'temperature') ? ['temperature'] : []),
  ];
  return names.map((name) => ({
    code: 'parameter_ignored',
    message: `${member.slug} does not take \`${name}\`.`,
    param: name,
  }));
}
