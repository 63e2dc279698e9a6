// Those who want to hear of something: each as often as it was added, until it leaves.

export class Listeners<Message> {
  readonly #entries = new Set<(message: Message) => void>();

  /** Returns how to leave; leaving twice does nothing. */
  add(listener: (message: Message) => void): () => void {
    const entry = (message: Message) => listener(message);
    this.#entries.add(entry);
    return () => this.#entries.delete(entry);
  }

  tell(message: Message): void {
    for (const entry of this.#entries) entry(message);
  }
}
