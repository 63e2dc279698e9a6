// Messages of failures and warnings: a provider may repeat in them what it heard. Pure.
import { isServiceClass, type RedactionClass } from '../api/redaction.ts';
import { find } from './find.ts';
import { textWith } from './spoken-words.ts';

/** What follows the gateway's own words are the provider's. They may begin with the model. */
const QUOTE = /(?<!^(?:None of \d+ attempts succeeded; the last was )?[^\s/]+\/\S+): /;

/** The message with labels. No service reads messages, so where one finds names, the provider's words are left out. */
export function redactedMessage(message: string, classes: readonly RedactionClass[], isQuoting = true): string {
  const at = isQuoting && classes.some(isServiceClass) ? message.search(QUOTE) : -1;
  const said = at < 0 ? message : `${message.slice(0, at)}.`;
  const own = new Set(classes.filter((kind) => !isServiceClass(kind)));
  if (own.size === 0) return said;
  // The provider's words may be cut within a number.
  const { matches, openFrom } = find(said, own);
  return matches.length === 0 && openFrom === undefined ? said : textWith(said, matches, openFrom);
}
