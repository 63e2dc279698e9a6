import type { Conversation, Wish } from '../../dialects/dialect.ts';

/** Another vendor's client: how it speaks, and what its wish is in words of the query. */
export interface Interpreter {
  conversation: Conversation;
  /** Throws a Refusal. */
  parametersOf(wish: Wish): Map<string, string>;
}
