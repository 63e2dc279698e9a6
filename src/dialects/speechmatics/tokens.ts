// Temporary keys of Speechmatics' clients. https://docs.speechmatics.com/get-started/authentication
import { told } from '../answers.ts';
import type { TokenDoors } from '../dialect.ts';
import { badRequest } from '../texts.ts';
import { secondsAsked } from '../token-wishes.ts';

export const tokens: TokenDoors = {
  'POST /v1/api_keys': {
    open({ query }, { ttl }) {
      if ((query.get('type') ?? 'rt') !== 'rt')
        throw badRequest(
          'type',
          '`type` has to be rt: temporary keys open live sessions alone. Send files with a key.',
        );
      return secondsAsked('ttl', ttl);
    },
    answer: ({ token }) => told({ apikey_id: null, key_value: token }, 201),
  },
};
