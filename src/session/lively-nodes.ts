// Nodes that legs of this node have been heard from just now: a session whose leg has gone silent asks one of these, and not
// again the one that stands still.

/** A leg says every half a second that it is there. */
const LIVELY_MS = 1_000;
/** Nodes remembered; the one that was heard longest ago makes room. */
const NODES_MAX = 256;

export class LivelyNodes {
  private readonly heardAtMs = new Map<string, number>();

  heard(node: string, nowMs: number): void {
    if (this.heardAtMs.size >= NODES_MAX && !this.heardAtMs.has(node)) {
      const [oldest] = [...this.heardAtMs].sort(([, one], [, other]) => one - other);
      if (oldest !== undefined) this.heardAtMs.delete(oldest[0]);
    }
    this.heardAtMs.set(node, nowMs);
  }

  /** The one that was heard last, but for that one; undefined when none was of late. */
  other(except: string, nowMs: number): string | undefined {
    let found: string | undefined;
    let latestMs = nowMs - LIVELY_MS;
    for (const [node, atMs] of this.heardAtMs) {
      if (node === except || atMs < latestMs) continue;
      latestMs = atMs;
      found = node;
    }
    return found;
  }

  gone(node: string): void {
    this.heardAtMs.delete(node);
  }
}
