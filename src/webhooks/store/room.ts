// How many deliveries an organisation and the store may have, with which bytes, and which make room: delivered ones first, then failed
// ones, the oldest of each; then the oldest that wait, of the same organisation.
import type { TableContext } from '../../store/table-context.ts';
import type { DeliveryState, WebhookLimits } from './calls.ts';

interface Totals {
  deliveries: number;
  bytes: number;
}

const NOTHING: Totals = { deliveries: 0, bytes: 0 };

export class DeliveryRoom {
  readonly #limits: WebhookLimits;
  readonly #statements: ReturnType<typeof statementsOf>;

  constructor({ database }: Pick<TableContext, 'database'>, limits: WebhookLimits) {
    this.#limits = limits;
    this.#statements = statementsOf(database);
  }

  /** Removes deliveries until one more of the organisation has room. */
  make(organisationId: string, bytes: number): { dropped: number; hasRoom: boolean } {
    const { remove, noteDropped } = this.#statements;
    let dropped = 0;
    for (;;) {
      const beyond = this.#beyond(organisationId, bytes);
      const number = beyond && this.#next(organisationId, beyond);
      if (number === undefined) return { dropped, hasRoom: beyond === undefined };
      const { endpoint, state } = remove.get(number) as { endpoint: number; state: DeliveryState };
      if (state !== 'pending') continue;
      dropped++;
      noteDropped.run(endpoint);
    }
  }

  /** A delivery had no room. */
  noteDropped(endpoint: number): void {
    this.#statements.noteDropped.run(endpoint);
  }

  #beyond(organisationId: string, bytes: number): 'organisation' | 'store' | undefined {
    const { organisation, store } = this.#limits;
    const isBeyond = (scope: string, limit: Totals): boolean => {
      const totals = this.#statements.totals.get(scope) ?? NOTHING;
      return totals.deliveries + 1 > limit.deliveries || totals.bytes + bytes > limit.bytes;
    };
    if (isBeyond(`organisation ${organisationId}`, organisation)) return 'organisation';
    return isBeyond('store', store) ? 'store' : undefined;
  }

  #next(organisationId: string, beyond: 'organisation' | 'store'): number | undefined {
    const { firstOf, first } = this.#statements;
    const over =
      beyond === 'organisation'
        ? (firstOf.get(organisationId, 'delivered') ?? firstOf.get(organisationId, 'failed'))
        : (first.get('delivered') ?? first.get('failed'));
    return over ?? firstOf.get(organisationId, 'pending');
  }
}

function statementsOf(database: TableContext['database']) {
  return {
    totals: database.prepare<[string], Totals>('SELECT deliveries, bytes FROM webhook_totals WHERE scope = ?'),
    firstOf: database
      .prepare<[string, DeliveryState], number>(
        'SELECT number FROM webhook_deliveries WHERE organisation_id = ? AND state = ? ORDER BY number LIMIT 1',
      )
      .pluck(),
    first: database
      .prepare<[DeliveryState], number>('SELECT number FROM webhook_deliveries WHERE state = ? ORDER BY number LIMIT 1')
      .pluck(),
    remove: database.prepare<[number], { endpoint: number; state: DeliveryState }>(
      'DELETE FROM webhook_deliveries WHERE number = ? RETURNING endpoint, state',
    ),
    noteDropped: database.prepare<[number]>('UPDATE webhook_endpoints SET dropped = dropped + 1 WHERE number = ?'),
  };
}
