// Which node keeps the accounts of which organisation. Today there is one shard, with everything; requests name their
// organisation so that there can be more.

/** The shard of what belongs to no organisation, or is not known to belong to one yet. */
export const FIRST_SHARD = '0';

/** @param _organisationId null for what names none */
export function shardOf(_organisationId: string | null): string {
  return FIRST_SHARD;
}
