// How many jobs a key, an organisation and the store may have, with which bytes, and which of them make room: failed ones first, then
// the oldest. Jobs that are not over never do.
import type { Shortage } from '../runtime/limits/quota.ts';
import type { TableContext } from '../store/table-context.ts';
import type { JobLimits } from './calls.ts';

type Context = Pick<TableContext, 'database' | 'nowMs'>;

interface JobOwner {
  organisationId: string;
  keyId: string;
}

interface Totals {
  jobs: number;
  bytes: number;
}

export class JobRoom {
  readonly #limits: JobLimits;
  readonly #statements: ReturnType<typeof statementsOf>;

  constructor({ database }: Pick<Context, 'database'>, limits: JobLimits) {
    this.#limits = limits;
    this.#statements = statementsOf(database);
  }

  ownerOf(number: number): JobOwner {
    return this.#statements.ownerOf.get(number) as JobOwner;
  }

  /** Removes a few jobs whose time is over. */
  sweep(now: number): void {
    this.#statements.sweep.run(now, this.#limits.sweptMax);
  }

  /** Removes jobs until so many more of the owner have room, or nothing can be removed any more. Returns how many. */
  make(owner: JobOwner, more: number): number {
    const { remove } = this.#statements;
    let removed = 0;
    for (let number = this.#excess(owner, more); number !== undefined; number = this.#excess(owner, more)) {
      remove.run(number);
      removed++;
    }
    return removed;
  }

  /** What has no room for one more. */
  fullFor(organisationId: string): 'organisation' | 'store' | undefined {
    const { organisation, store } = this.#limits;
    if (this.#totals(`organisation ${organisationId}`).jobs >= organisation.jobs) return 'organisation';
    return this.#totals('store').jobs >= store.jobs ? 'store' : undefined;
  }

  /** As of a `Quota`: one organisation may have as many jobs that are not over as it leaves free, so there is room for the next one. */
  shortage(organisationId: string): Shortage | undefined {
    const { jobs: max } = this.#limits.store;
    const { open, openOf } = this.#statements;
    // Jobs that are over make room, and are counted out where that matters.
    if (this.#totals(`organisation ${organisationId}`).jobs < max - this.#totals('store').jobs) return undefined;
    const left = max - (open.get() ?? 0);
    if (left <= 0) return 'full';
    return (openOf.get(organisationId) ?? 0) < left ? undefined : 'share';
  }

  /** The job that goes next: of the owner, or else of the organisation that has most. */
  #excess({ organisationId, keyId }: JobOwner, more: number): number | undefined {
    const { key, organisation, store } = this.#limits;
    const { firstOfKey, firstOfOrganisation, mostJobs, mostBytes } = this.#statements;
    const isBeyond = (scope: string, { jobs, bytes }: Totals): boolean => {
      const totals = this.#totals(scope);
      return totals.jobs + more > jobs || totals.bytes > bytes;
    };
    const first =
      (isBeyond(`key ${keyId}`, key) ? firstOfKey.get(organisationId, keyId) : undefined) ??
      (isBeyond(`organisation ${organisationId}`, organisation) ? firstOfOrganisation.get(organisationId) : undefined);
    if (first !== undefined || !isBeyond('store', store)) return first;
    // Nobody's jobs make room for another organisation that has more of them.
    const most = this.#totals('store').jobs + more > store.jobs ? mostJobs.get() : mostBytes.get();
    return most === undefined ? undefined : firstOfOrganisation.get(most);
  }

  #totals(scope: string): Totals {
    return this.#statements.totals.get(scope) ?? { jobs: 0, bytes: 0 };
  }
}

function statementsOf(database: Context['database']) {
  const oldest = `ended_at_ms IS NOT NULL ORDER BY stage = 'done', ended_at_ms, number LIMIT 1`;
  const most = (by: 'jobs' | 'bytes') =>
    database
      .prepare<[], string>(
        `SELECT substr(scope, 14) FROM job_totals WHERE scope GLOB 'organisation *' AND EXISTS
           (SELECT 1 FROM jobs WHERE organisation_id = substr(scope, 14) AND ended_at_ms IS NOT NULL)
         ORDER BY ${by} DESC, scope LIMIT 1`,
      )
      .pluck();
  return {
    ownerOf: database.prepare<[number], JobOwner>(
      'SELECT organisation_id AS organisationId, key_id AS keyId FROM jobs WHERE number = ?',
    ),
    sweep: database.prepare<[number, number]>(
      `DELETE FROM jobs WHERE number IN
         (SELECT number FROM jobs WHERE kept_until_ms <= ? ORDER BY kept_until_ms, number LIMIT ?)`,
    ),
    remove: database.prepare<[number]>('DELETE FROM jobs WHERE number = ?'),
    open: database.prepare<[], number>('SELECT count(*) FROM jobs WHERE ended_at_ms IS NULL').pluck(),
    openOf: database
      .prepare<[string], number>('SELECT count(*) FROM jobs WHERE organisation_id = ? AND ended_at_ms IS NULL')
      .pluck(),
    totals: database.prepare<[string], Totals>('SELECT jobs, bytes FROM job_totals WHERE scope = ?'),
    firstOfKey: database
      .prepare<[string, string], number>(
        `SELECT number FROM jobs WHERE organisation_id = ? AND key_id = ? AND ${oldest}`,
      )
      .pluck(),
    firstOfOrganisation: database
      .prepare<[string], number>(`SELECT number FROM jobs WHERE organisation_id = ? AND ${oldest}`)
      .pluck(),
    mostJobs: most('jobs'),
    mostBytes: most('bytes'),
  };
}
