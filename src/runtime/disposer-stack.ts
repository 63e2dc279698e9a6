// Who owns what: a scope holds the disposers of everything one session or leg has opened. XState neither stops children
// when an action throws nor runs exit actions on stop, so nothing that must be closed is left to a chart.

/** Runs what was deferred exactly once, last first; a disposer that throws does not keep the others from running. */
export class DisposerStack {
  #disposers: (() => void)[] | undefined = [];
  readonly #onFault: (error: unknown) => void;

  constructor(onFault: (error: unknown) => void = () => {}) {
    this.#onFault = onFault;
  }

  get disposed(): boolean {
    return this.#disposers === undefined;
  }

  /** Registers a disposer. In a scope already disposed it runs at once, so that nothing opened late stays open. */
  defer(dispose: () => void): void {
    if (this.#disposers === undefined) this.#run(dispose);
    else this.#disposers.push(dispose);
  }

  dispose(): void {
    const disposers = this.#disposers;
    if (disposers === undefined) return;
    this.#disposers = undefined;
    for (const dispose of disposers.reverse()) this.#run(dispose);
  }

  #run(dispose: () => void): void {
    try {
      dispose();
    } catch (error) {
      this.#onFault(error);
    }
  }
}
