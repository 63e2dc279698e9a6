// The models that a form names, checked against all that it asks of them, and what of it each of them would not take.
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import { type ChainDependencies, type ChainMember, type Degradation, resolveChain } from '../live/failover/chain.ts';
import type { AskedRule } from '../vendors/place-rules.ts';
import { leftOut, strictly, timesMissing } from './shortcomings.ts';

/** The chain of a request, checked. Throws a Refusal naming the field at fault. */
export async function chainOf(
  fields: TranscriptionRequest,
  organisationId: string,
  dependencies: ChainDependencies,
  rules: readonly AskedRule[] = [],
): Promise<{ members: ChainMember[]; warnings: Degradation[] }> {
  const chain = await resolveChain(
    {
      mode: 'batch',
      organisationId,
      model: fields.model,
      providerParams: fields.providerParams,
      credential: fields.credential,
      fallbacks: fields.fallbacks,
      aliased: fields.aliased,
      // The file's own rate is known only when its header was read; the job converts to what the model takes.
      sampleRate: 16_000,
      language: fields.language,
      diarization: fields.diarization,
      common: fields.common,
      interimResults: false,
      strict: fields.strict,
      rules,
    },
    dependencies,
  );
  const faults = [...chain.members.flatMap((member) => timesMissing(fields, member)), ...leftOut(fields)];
  if (fields.strict && faults[0] !== undefined) throw strictly(faults[0]);
  return chain;
}
