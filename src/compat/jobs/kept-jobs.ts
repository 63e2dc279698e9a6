// Jobs by whose they are: how many the node, an organisation and a key may have, and which are released where there are too many.

import type { Owner } from '../../jobs/owner.ts';
import type { JobState } from '../../vendors/compat/jobs.ts';

export interface KeptBounds {
  jobs: number;
  characters: number;
}

export interface KeptJobsBounds {
  key: KeptBounds;
  organisation: KeptBounds;
  node: KeptBounds;
}

interface OwnedJob {
  readonly id: string;
  readonly owner: Owner;
  readonly state: Pick<JobState, 'type'>;
  /** Also while it is not over yet. */
  readonly givesWay?: boolean;
  /** Undefined: it is not over yet. */
  readonly endedAt: Date | undefined;
  /** They change only while it is taken out. */
  readonly characters: number;
}

/** Jobs that share a bound. Those that are over come in the order of their ends. */
class Group<Job extends OwnedJob> {
  readonly jobs = new Set<Job>();
  characters = 0;
  readonly #max: KeptBounds;

  constructor(max: KeptBounds) {
    this.#max = max;
  }

  hasRoomFor(more: number): boolean {
    return this.jobs.size + more <= this.#max.jobs;
  }

  isBeyond(more: number): boolean {
    return !this.hasRoomFor(more) || this.characters > this.#max.characters;
  }

  /** The oldest that failed, or else the oldest that is done, or else the oldest that gives way. */
  get first(): Job | undefined {
    let done: Job | undefined;
    let givesWay: Job | undefined;
    for (const job of this.jobs) {
      if (job.endedAt === undefined) {
        if (job.givesWay === true) givesWay ??= job;
      } else if (job.state.type === 'failed') return job;
      else done ??= job;
    }
    return done ?? givesWay;
  }
}

export class KeptJobs<Job extends OwnedJob> {
  readonly #jobs = new Map<string, Job>();
  readonly #bounds: KeptJobsBounds;
  readonly #node: Group<Job>;
  readonly #organisations = new Map<string, Group<Job>>();
  readonly #keys = new Map<string, Group<Job>>();

  constructor(bounds: KeptJobsBounds) {
    this.#bounds = bounds;
    this.#node = new Group<Job>(bounds.node);
  }

  get size(): number {
    return this.#jobs.size;
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  all(): Job[] {
    return [...this.#jobs.values()];
  }

  ofKey(keyId: string): Job[] {
    return [...(this.#keys.get(keyId)?.jobs ?? [])];
  }

  /** Behind all others. */
  add(job: Job): void {
    const { keyId, organisationId } = job.owner;
    this.#jobs.set(job.id, job);
    const key = this.#keys.get(keyId) ?? new Group<Job>(this.#bounds.key);
    const organisation = this.#organisations.get(organisationId) ?? new Group<Job>(this.#bounds.organisation);
    this.#keys.set(keyId, key);
    this.#organisations.set(organisationId, organisation);
    for (const group of [this.#node, organisation, key]) {
      group.jobs.add(job);
      group.characters += job.characters;
    }
  }

  /** False: it is not here any more. */
  take(job: Job): boolean {
    if (!this.#jobs.delete(job.id)) return false;
    const { keyId, organisationId } = job.owner;
    const [key, organisation] = [this.#keys.get(keyId), this.#organisations.get(organisationId)];
    for (const group of [this.#node, organisation, key]) {
      group?.jobs.delete(job);
      if (group !== undefined) group.characters -= job.characters;
    }
    if (key?.jobs.size === 0) this.#keys.delete(keyId);
    if (organisation?.jobs.size === 0) this.#organisations.delete(organisationId);
    return true;
  }

  /** What has to be released next, so that so many more have room: of the owner, or of the organisation that has most. */
  excess({ keyId, organisationId }: Owner, more: number): Job | undefined {
    for (const group of [this.#keys.get(keyId), this.#organisations.get(organisationId)]) {
      const first = group?.isBeyond(more) ? group.first : undefined;
      if (first !== undefined) return first;
    }
    return this.#node.isBeyond(more) ? this.#most(more)?.first : undefined;
  }

  /** Nobody’s jobs make room for another organisation that has more of them. */
  #most(more: number): Group<Job> | undefined {
    const organisations = [...this.#organisations.values()];
    return this.#node.hasRoomFor(more)
      ? largest(
          organisations.filter(({ first }) => first !== undefined),
          ({ characters }) => characters,
        )
      : largest(organisations, ({ jobs }) => jobs.size);
  }
}

const largest = <Item>(items: readonly Item[], sizeOf: (item: Item) => number): Item | undefined =>
  items.reduce<Item | undefined>((most, item) => (most && sizeOf(most) >= sizeOf(item) ? most : item), undefined);
