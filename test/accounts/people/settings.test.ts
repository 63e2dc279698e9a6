// The settings of accounts: what is taken, and that a refusal never shows the mail server's password.
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';

const load = (env: Record<string, string>) => loadConfig(env, { providers: [] }).accounts;

describe('the settings of accounts', () => {
  test('default to these values', () => {
    expect(load({})).toEqual({
      welcomeCreditUsd: '2.00',
      signUpsPerAddressDayMax: 10,
      publicUrl: undefined,
      smtpUrl: undefined,
      mailFrom: 'Voxgate <voxgate@localhost>',
    });
  });

  test.each([
    ['VOXGATE_WELCOME_CREDIT_USD', '0'],
    ['VOXGATE_WELCOME_CREDIT_USD', '12.345678'],
    ['VOXGATE_PUBLIC_URL', 'https://voxgate.example/under'],
    ['VOXGATE_SMTP_URL', 'smtp://user:p%40ss@mail.example:587'],
    ['VOXGATE_SMTP_URL', 'smtps://mail.example'],
    ['VOXGATE_MAIL_FROM', 'accounts@example.com'],
    ['VOXGATE_MAIL_FROM', 'Voxgate <accounts@example.com>'],
  ])('%s may be %s', (name, value) => {
    expect(Object.values(load({ [name]: value }))).toContain(value);
  });

  test.each([
    ['VOXGATE_WELCOME_CREDIT_USD', '-1'],
    ['VOXGATE_WELCOME_CREDIT_USD', '1.1234567'],
    ['VOXGATE_WELCOME_CREDIT_USD', '2 USD'],
    ['VOXGATE_PUBLIC_URL', 'voxgate.example'],
    ['VOXGATE_PUBLIC_URL', 'wss://voxgate.example'],
    ['VOXGATE_PUBLIC_URL', 'https://user:canary@voxgate.example'],
    ['VOXGATE_PUBLIC_URL', 'https://voxgate.example/?a=b'],
    ['VOXGATE_SMTP_URL', 'http://user:canary@mail.example'],
    ['VOXGATE_SMTP_URL', 'smtp://user:canary@'],
    ['VOXGATE_MAIL_FROM', 'Voxgate'],
    ['VOXGATE_MAIL_FROM', 'a@example.com\nBcc: b@example.com'],
  ])('%s may not be %j', (name, value) => {
    expect(() => load({ [name]: value })).toThrow(name);
    const messageOf = () => {
      try {
        load({ [name]: value });
      } catch (error) {
        return String(error);
      }
      return '';
    };
    expect(messageOf()).not.toContain('canary');
  });
});
