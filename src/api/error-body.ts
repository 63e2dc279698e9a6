// The error object as a schema: the body of every refusal over HTTP, and what a live `error` event carries. Which codes there
// are is the catalogue's; new ones may be added at any time.
import { type TLiteral, Type } from '@sinclair/typebox';
import { ERROR_CATALOGUE, type ErrorCode, type ErrorType } from './error-catalogue.ts';

/** Every code of the catalogue, in its order. */
export const ERROR_CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

const oneOf = <Text extends string>(texts: readonly Text[], description: string) =>
  Type.Union(
    texts.map((text): TLiteral<Text> => Type.Literal(text)),
    { description },
  );

const TYPES: readonly ErrorType[] = [...new Set(Object.values(ERROR_CATALOGUE).map(({ type }) => type))];

export const ErrorAttempt = Type.Object(
  {
    model: Type.String({ description: 'Slug of the model that was tried.' }),
    reason: Type.String({ description: 'The reason for the failure.' }),
  },
  { description: 'An attempt at a model without a result.' },
);

export const ErrorObject = Type.Object(
  {
    type: oneOf(TYPES, 'The family of the error.'),
    code: oneOf(ERROR_CODES, 'The reason, for programs. Codes may be added.'),
    message: Type.String({
      description: 'A message for people: what was wrong, what is accepted and what to do. It may change.',
    }),
    param: Type.Union([Type.String(), Type.Null()], { description: 'Name of the field at fault, or null.' }),
    request_id: Type.String({ description: 'Quote it when you report a problem. Also in the header `X-Request-Id`.' }),
    details: Type.Optional(
      Type.Array(ErrorAttempt, { description: 'With `upstream_error`: every attempt, in order.' }),
    ),
  },
  { description: 'The reason for a refusal or a failure.' },
);

export const ErrorAnswer = Type.Object({ error: ErrorObject }, { description: 'The body of every refusal.' });
