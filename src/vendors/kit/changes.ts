// What is other in what a connection was opened with and in what it is to be changed to.

import { isDeepStrictEqual } from 'node:util';
import type { Heard } from '../../../machines/events.ts';
import type { JsonObject } from './json.ts';
import type { Outgoing, Step } from './provider.ts';

/** The members that are other in the second, with what they are there: undefined where it has none. */
export const changesBetween = (before: JsonObject, after: JsonObject): Record<string, unknown> =>
  Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .filter((name) => !isDeepStrictEqual(before[name], after[name]))
      .map((name) => [name, after[name]]),
  );

/** The provider has said whether a change is in force. */
export const reconfigured = (isInForce: boolean): Heard => ({ type: 'reconfigured', isInForce });

/** For providers that answer a change by nothing: it is in force when it is sent. */
export const sentChange = (frame: Outgoing): Step[] => [{ type: 'send', frame }, reconfigured(true)];
