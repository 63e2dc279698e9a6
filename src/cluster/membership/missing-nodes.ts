// Nodes that went silent without leaving, for the operator: killed or frozen ones, whose names expire with their leases.
import { ROLES, type Role } from '../../config/schema-cluster.ts';

/** Nodes to remember; beyond, the one that was heard longest ago is forgotten. */
const MISSING_MAX = 32;
/** Time after which nobody looks for a node any more. */
const FORGOTTEN_MS = 3_600_000;

export interface MissingNode {
  /** The name that its operator gave it. */
  id: string;
  /** Its incarnation. */
  node: string;
  roles: Role[];
  /** Time since its last heartbeat. */
  heardMsAgo: number;
}

/** Of a heartbeat. */
type Known = Pick<MissingNode, 'id' | 'node' | 'roles'>;

export class MissingNodes {
  readonly #max: number;
  /** By id, the one that was heard longest ago first. */
  readonly #missing = new Map<string, Known & { heardAtMs: number }>();

  constructor(max = MISSING_MAX) {
    this.#max = max;
  }

  add({ id, node, roles }: Known, heardAtMs: number): void {
    this.#missing.delete(id);
    this.#missing.set(id, { id, node, roles, heardAtMs });
    const [oldest] = this.#missing.keys();
    if (this.#missing.size > this.#max && oldest !== undefined) this.#missing.delete(oldest);
  }

  /** A node with that name was heard, or it left. */
  remove(id: string): void {
    this.#missing.delete(id);
  }

  list(nowMs: number): MissingNode[] {
    for (const [id, { heardAtMs }] of this.#missing) if (nowMs - heardAtMs >= FORGOTTEN_MS) this.#missing.delete(id);
    return [...this.#missing.values()].map(({ heardAtMs, ...known }) => ({ ...known, heardMsAgo: nowMs - heardAtMs }));
  }
}

/** From another node. Undefined when it is not such a list; drops roles that this version does not know. */
export function readMissing(
  value: unknown,
  isName: (id: unknown, node: unknown) => boolean,
): MissingNode[] | undefined {
  if (!Array.isArray(value) || value.length > MISSING_MAX) return undefined;
  const read = value.flatMap((each: Partial<Record<keyof MissingNode, unknown>> | null): MissingNode[] => {
    const { id, node, roles, heardMsAgo } = each ?? {};
    if (!isName(id, node) || !Array.isArray(roles) || typeof heardMsAgo !== 'number' || !(heardMsAgo >= 0)) return [];
    const known = ROLES.filter((role) => roles.includes(role));
    return [{ id: id as string, node: node as string, roles: known, heardMsAgo }];
  });
  return read;
}
