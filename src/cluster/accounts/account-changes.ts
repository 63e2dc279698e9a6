// Changes of keys and organisations, as the bus announces them to every node.
import type { Bus, BusBody, Detach } from '../bus/bus.ts';
import { KEY_CHANGED, KEY_REVOKED, type KeyChange, SUSPENSION, type Suspension } from '../bus/subjects.ts';

const ID_LENGTH_MAX = 200;

export interface AccountChanges {
  revoked(keyId: string): void;
  changed(keyId: string): void;
  suspension(organisationId: string, suspended: boolean): void;
  /** A malformed message on one of these topics. */
  unread?(): void;
}

/** Subscribes to the changes that any node announces, this one included. */
export function listenToAccountChanges(
  bus: Bus,
  { revoked, changed, suspension, unread = () => {} }: AccountChanges,
): Detach {
  const ofKey = (tell: (keyId: string) => void) => (body: BusBody) => {
    const { keyId } = body as Partial<KeyChange>;
    if (isId(keyId)) tell(keyId);
    else unread();
  };
  const detach = [
    bus.subscribe(KEY_REVOKED, ofKey(revoked)),
    bus.subscribe(KEY_CHANGED, ofKey(changed)),
    bus.subscribe(SUSPENSION, (body) => {
      const { organisationId, suspended } = body as Partial<Suspension>;
      if (isId(organisationId) && typeof suspended === 'boolean') suspension(organisationId, suspended);
      else unread();
    }),
  ];
  return () => {
    for (const each of detach) each();
  };
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= ID_LENGTH_MAX;
