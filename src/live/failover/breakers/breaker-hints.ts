// What nodes tell each other of models in trouble: a breaker that opens here is told to the others, and one that opens elsewhere
// opens here for as long. What a breaker makes of it is decided in machines/breaker.ts; nothing that was heard is passed on.
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Bus, Detach } from '../../../cluster/bus/bus.ts';
import { BREAKER_OPENED, BREAKER_OPENED_FOR } from '../../../cluster/bus/subjects.ts';
import { SERVICE_CREDENTIAL } from '../chain-credential.ts';
import type { Breakers } from './breakers.ts';

const OPEN_MS_MAX = 24 * 3_600_000;

const Hint = Type.Object({
  type: Type.Literal(BREAKER_OPENED),
  /** The node that says so. */
  node: Type.String({ minLength: 1, maxLength: 64 }),
  /** `<provider>/<model>`. */
  model: Type.String({ minLength: 1, maxLength: 256 }),
  /** `service`, or the id of an organisation's own key; never the credential itself. */
  credentialId: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  /** The endpoint that a rule has chosen. A node that does not know this member leaves the model alone at all of them. */
  endpoint: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' })),
  /** Whose requests met the failures; all organisations where it is absent. */
  organisationId: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' })),
  openMs: Type.Integer({ minimum: 1, maximum: OPEN_MS_MAX }),
});

export interface BreakerHintsOptions {
  bus: Pick<Bus, 'node' | 'publish' | 'subscribe'>;
  breakers: Pick<Breakers, 'onOpened' | 'hinted'>;
  /** Whether this node has that model. */
  knows(model: string): boolean;
  /** A hint was left out; `name` is why. */
  onDrop(name: 'unread_breaker_hint' | 'breaker_hint_unknown_model' | 'breaker_hint_no_room'): void;
}

/** Shares the breakers of this node with the others, until it is detached. */
export function shareBreakers({ bus, breakers, knows, onDrop }: BreakerHintsOptions): Detach {
  const stopTelling = breakers.onOpened(({ slug, credentialId, endpoint, organisationId }, openMs) => {
    // A node that does not know the member `organisationId` would leave the model alone for all: it does not get the message.
    const isOfOne = credentialId === SERVICE_CREDENTIAL && organisationId !== undefined;
    const hint: Static<typeof Hint> = {
      type: BREAKER_OPENED,
      node: bus.node,
      model: slug,
      credentialId,
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(organisationId === undefined ? {} : { organisationId }),
      openMs: Math.min(OPEN_MS_MAX, Math.max(1, Math.ceil(openMs))),
    };
    bus.publish(isOfOne ? BREAKER_OPENED_FOR : BREAKER_OPENED, hint);
  });
  const receive = (body: unknown): void => {
    if (!Value.Check(Hint, body)) {
      onDrop('unread_breaker_hint');
      return;
    }
    const { node, model, credentialId, endpoint, organisationId, openMs } = body;
    if (node === bus.node) return;
    if (!knows(model)) onDrop('breaker_hint_unknown_model');
    else {
      const guarded = {
        ...{ slug: model, credentialId },
        ...(endpoint === undefined ? {} : { endpoint }),
        ...(organisationId === undefined ? {} : { organisationId }),
      };
      if (breakers.hinted(guarded, openMs) === 'no_room') onDrop('breaker_hint_no_room');
    }
  };
  const detach = [stopTelling, bus.subscribe(BREAKER_OPENED, receive), bus.subscribe(BREAKER_OPENED_FOR, receive)];
  return () => {
    for (const each of detach) each();
  };
}
