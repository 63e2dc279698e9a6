// `POST /v1/tokens`: body and answer.
import { type Static, Type } from '@sinclair/typebox';

export const TOKEN_PREFIX = 'st_';
export const TOKEN_TTL_SECONDS = { min: 10, max: 300, default: 60 } as const;

export const TokenRequest = Type.Object(
  {
    ttl_seconds: Type.Optional(
      Type.Integer({
        minimum: TOKEN_TTL_SECONDS.min,
        maximum: TOKEN_TTL_SECONDS.max,
        default: TOKEN_TTL_SECONDS.default,
        description: 'Seconds for which the token opens sessions. A session that is open goes on.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type TokenRequest = Static<typeof TokenRequest>;

export const TokenResponse = Type.Object({
  token: Type.String({ pattern: `^${TOKEN_PREFIX}`, description: 'Opens `/v1/listen`, and nothing else.' }),
  expires_at: Type.String({ description: 'When it stops being accepted for a handshake: ISO 8601 UTC.' }),
  ttl_seconds: Type.Integer({ description: 'Seconds from now to `expires_at`.' }),
});
export type TokenResponse = Static<typeof TokenResponse>;
