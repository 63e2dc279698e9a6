// What nodes tell each other of models in trouble: a breaker that opens here is told to the others, and one that opens elsewhere
// opens here for as long. What a breaker makes of it is decided in machines/breaker.ts; nothing that was heard is passed on.
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Bus, Detach } from '../bus/bus.ts';
import { BREAKER_OPENED } from '../bus/subjects.ts';
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
  const stopTelling = breakers.onOpened(({ slug, credentialId, endpoint }, openMs) => {
    const hint: Static<typeof Hint> = {
      type: BREAKER_OPENED,
      node: bus.node,
      model: slug,
      credentialId,
      ...(endpoint === undefined ? {} : { endpoint }),
      openMs: Math.min(OPEN_MS_MAX, Math.max(1, Math.ceil(openMs))),
    };
    bus.publish(BREAKER_OPENED, hint);
  });
  const stopHearing = bus.subscribe(BREAKER_OPENED, (body) => {
    if (!Value.Check(Hint, body)) {
      onDrop('unread_breaker_hint');
      return;
    }
    const { node, model, credentialId, endpoint, openMs } = body;
    if (node === bus.node) return;
    if (!knows(model)) onDrop('breaker_hint_unknown_model');
    else {
      const guarded = { slug: model, credentialId, ...(endpoint === undefined ? {} : { endpoint }) };
      if (breakers.hinted(guarded, openMs) === 'no_room') onDrop('breaker_hint_no_room');
    }
  });
  return () => {
    stopTelling();
    stopHearing();
  };
}
