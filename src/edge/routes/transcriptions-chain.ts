// The models that a form names, checked against all that it asks of them, and what of it each of them would not take.
import { refuse } from '../../api/errors.ts';
import type { TranscriptionRequest } from '../../api/transcriptions.ts';
import type { Caller } from '../../auth/permissions.ts';
import { type ChainDependencies, type ChainMember, type Degradation, resolveChain } from '../../session/chain.ts';
import { takesField } from '../../session/transcription-http.ts';

/** The chain of a request, checked. Throws a Refusal naming the field at fault. */
export async function chainOf(
  fields: TranscriptionRequest,
  { organisationId }: Pick<Caller, 'organisationId'>,
  dependencies: ChainDependencies,
): Promise<{ members: ChainMember[]; warnings: Degradation[] }> {
  const chain = await resolveChain(
    {
      mode: 'batch',
      organisationId,
      model: fields.model,
      providerParams: fields.providerParams,
      fallbacks: fields.fallbacks,
      // The file's own rate is known only when its header was read; the job converts to what the model takes.
      sampleRate: 16_000,
      language: fields.language,
      diarization: fields.diarization,
      interimResults: false,
      strict: fields.strict,
    },
    dependencies,
  );
  const first = chain.members.flatMap((member) => unmapped(fields, member))[0];
  if (fields.strict && first !== undefined) {
    throw refuse('unsupported_parameter', `${first.message} Leave it out, choose another model, or drop \`strict\`.`, {
      param: first.param as string,
    });
  }
  return chain;
}

/** What of the form the model does not take. */
export function unmapped(fields: TranscriptionRequest, member: ChainMember): Degradation[] {
  const names = [
    ...fields.unmapped,
    ...(fields.prompt && !takesField(member, 'prompt') ? ['prompt'] : []),
    ...(fields.temperature && !takesField(member, 'temperature') ? ['temperature'] : []),
  ];
  return names.map((name) => ({
    code: 'parameter_ignored',
    message: `${member.slug} does not take \`${name}\`.`,
    param: name,
  }));
}
