// The query of `GET /v1/sessions`: which sessions are wanted.
import { SESSIONS_LIMIT } from '../../api/usage.ts';
import { choiceOf, knownQuery, textOf, timeOf, wholeNumberOf } from '../../http/http/query-values.ts';
import type { SessionSearch } from '../store/calls.ts';

const PARAMETERS = ['limit', 'before', 'state', 'model', 'key', 'from', 'to', 'reason', 'id'];

export function searchOf(raw: string): SessionSearch {
  const query = knownQuery(raw, '/v1/sessions', PARAMETERS);
  const wanted = {
    before: query.get('before'),
    state: query.has('state') ? choiceOf(query, 'state', ['live', 'ended']) : undefined,
    model: textOf(query, 'model'),
    keyId: textOf(query, 'key'),
    from: momentOf(query, 'from'),
    to: momentOf(query, 'to'),
    reason: textOf(query, 'reason'),
    idPrefix: textOf(query, 'id'),
  };
  const said = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return { limit: wholeNumberOf(query, 'limit', SESSIONS_LIMIT), ...Object.fromEntries(said) };
}

function momentOf(query: ReadonlyMap<string, string>, name: string): string | undefined {
  const ms = timeOf(query, name);
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
