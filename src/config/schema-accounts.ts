// The settings of people's accounts: what a new one is given, and how mail reaches them.
import { Type } from '@sinclair/typebox';
import { integer, optionalText } from './schema-types.ts';

export const Accounts = Type.Object({
  welcomeCreditUsd: Type.String({
    pattern: '^\\d{1,6}(\\.\\d{1,6})?$',
    default: '2.00',
    env: 'VOXGATE_WELCOME_CREDIT_USD',
    accepts: 'an amount in USD such as `2.00`, with at most six decimals',
    description: 'Credit of a new account once its e-mail address is verified; 0 for none.',
  }),
  signUpsPerAddressDayMax: integer(
    'VOXGATE_SIGN_UPS_PER_ADDRESS_DAY_MAX',
    0,
    1_000_000,
    10,
    'Sign-ups from one network address in 24 hours; 0 closes the sign-up.',
  ),
  publicUrl: optionalText(Type.String({ format: 'public-url', maxLength: 2048 }), {
    env: 'VOXGATE_PUBLIC_URL',
    accepts: 'an http or https URL without user name, query or fragment',
    description: 'Public address of this gateway, for links in mails. The listening address when absent.',
    quotable: false,
  }),
  smtpUrl: optionalText(Type.String({ format: 'smtp-url', maxLength: 4096 }), {
    env: 'VOXGATE_SMTP_URL',
    accepts: 'an smtp or smtps URL such as `smtp://user:password@mail.example.com:587`',
    description:
      'The mail server. Without one, mails wait at `/console/outbox` of a gateway that only this machine can reach.',
    secret: true,
  }),
  mailFrom: Type.String({
    pattern: '^[^\\r\\n]*[^\\s@<>]+@[^\\s@<>]+>?$',
    maxLength: 320,
    default: 'Voxgate <voxgate@localhost>',
    env: 'VOXGATE_MAIL_FROM',
    accepts: 'a sender such as `Voxgate <accounts@example.com>`',
    description: 'Sender of mails.',
  }),
});
