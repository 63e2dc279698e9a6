// The names of backups: the ledger, when the copy was made, and how it is written. Files with other names are left alone.

export interface CopyName {
  name: string;
  /** `led_…` */
  ledger: string;
  madeAtMs: number;
  isSealed: boolean;
}

const NAME = /^voxgate-(led_[0-9a-f]{24})-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.db\.gz(\.sealed)?$/;

/** What the names of all backups begin with, or of those of one ledger. */
export const nameStart = (ledger?: string): string => (ledger === undefined ? 'voxgate-led_' : `voxgate-${ledger}-`);

/** `voxgate-led_0123456789abcdef01234567-20261231T180000000Z.db.gz` */
export function copyNameOf(ledger: string, madeAtMs: number, isSealed: boolean): CopyName {
  const time = new Date(madeAtMs).toISOString().replaceAll(/[-:.]/g, '');
  return { name: `${nameStart(ledger)}${time}.db.gz${isSealed ? '.sealed' : ''}`, ledger, madeAtMs, isSealed };
}

/** Undefined for any name that `copyNameOf` does not give. */
export function readCopyName(name: string): CopyName | undefined {
  const [, ledger, year, month, day, hour, minute, second, ms, sealed] = NAME.exec(name) ?? [];
  if (ledger === undefined) return undefined;
  const madeAtMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  if (Number.isNaN(madeAtMs)) return undefined;
  const copy = copyNameOf(ledger, madeAtMs, sealed !== undefined);
  // 30 February would be read as a day in March.
  return copy.name === name ? copy : undefined;
}
