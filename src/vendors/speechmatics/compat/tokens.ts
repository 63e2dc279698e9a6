// Temporary keys of Speechmatics' clients. https://docs.speechmatics.com/get-started/authentication

import type { TokenEndpoints } from '../../compat/dialect.ts';
import { badRequest, secondsAsked } from '../../compat/params.ts';
import { jsonAnswer } from '../../compat/request.ts';

export const tokens: TokenEndpoints = {
  'POST /v1/api_keys': {
    open({ query }, { ttl }) {
      if ((query.get('type') ?? 'rt') !== 'rt')
        throw badRequest(
          'type',
          '`type` has to be rt: temporary keys open live sessions alone. Send files with a key.',
        );
      return secondsAsked('ttl', ttl);
    },
    answer: ({ token }) => jsonAnswer({ apikey_id: null, key_value: token }, 201),
  },
};
