// The shard of an organisation's accounts. There is one shard today; requests name their organisation so that there can be more.

/** The shard of calls that belong to no organisation, or to one that is not known yet. */
export const FIRST_SHARD = '0';

/** @param _organisationId null when the call names none */
export function shardOf(_organisationId: string | null): string {
  return FIRST_SHARD;
}
