// What the audit log tells of accounts and keys: for every action who did it, to what, and which organisation sees it.
import { describe, expect, test } from 'vitest';
import type { Person } from '../../../../src/accounts/people/store/calls.ts';
import type { Actor } from '../../../../src/store/audit-log.ts';
import { OPERATOR } from '../../../fakes/store/ledger.ts';
import { CLIENT, hashOf, personCalled, rig, sessionOf, signUp, token, use, verified } from './accounts-rig.ts';

const MINUTE_MS = 60_000;
const GROUP = '2001:db8:0:1::/64';
const STRANGER = { client: '2001:db8:0:1::7', clientGroup: GROUP };
const anonymous: Actor = { type: 'anonymous', id: GROUP, address: STRANGER.client };
const personal = ({ id }: Person): Actor => ({ type: 'person', id, address: CLIENT });
const operator = (): Actor => OPERATOR;

interface Case {
  action: string;
  /** Does it to a verified person, and gives the target where that is not the person. */
  act(person: Person): string | undefined;
  by(person: Person): Actor;
}

const login = ({ id }: Person) => rig.ledger.openConsoleSession(sessionOf(id, hashOf('first')))!;
const mint = ({ organisationId, ...person }: Person) =>
  rig.ledger.createKey(organisationId, {}, personal({ organisationId, ...person })).key;

const CASES: Case[] = [
  { action: 'sign-up.repeated', by: () => anonymous, act: ({ email }) => void signUp(email, STRANGER) },
  {
    action: 'password.reset-requested',
    by: () => anonymous,
    act: ({ address }) => void rig.ledger.requestPasswordReset(address, token(), STRANGER),
  },
  {
    action: 'login.refused',
    by: () => anonymous,
    act: ({ address }) => void rig.ledger.noteRefusedLogin({ address, why: 'password', ...STRANGER }),
  },
  {
    action: 'password.reset',
    by: personal,
    act({ address }) {
      const link = token();
      rig.ledger.requestPasswordReset(address, link, STRANGER);
      rig.ledger.resetPassword(link.hash, hashOf('new'), CLIENT);
      return undefined;
    },
  },
  {
    action: 'password.changed',
    by: personal,
    act: ({ id }) => void rig.ledger.changePassword(sessionOf(id, hashOf('first')), hashOf('new')),
  },
  {
    action: 'email.change-requested',
    by: personal,
    act: ({ id }) => void rig.ledger.requestAddressChange(id, 'x@example.com', 'x@example.com', token(), CLIENT),
  },
  {
    action: 'email.changed',
    by: personal,
    act({ id }) {
      const link = token();
      rig.ledger.requestAddressChange(id, 'x@example.com', 'x@example.com', link, CLIENT);
      use(link);
      return undefined;
    },
  },
  { action: 'login', by: personal, act: (person) => login(person).id },
  {
    action: 'logout',
    by: personal,
    act(person) {
      const { id } = login(person);
      rig.ledger.endConsoleSession(person.id, id, CLIENT);
      return id;
    },
  },
  {
    action: 'account.suspended',
    by: operator,
    act: ({ id }) => void rig.ledger.moveAccount(id, 'account.suspend', OPERATOR),
  },
  {
    action: 'account.reinstated',
    by: operator,
    act({ id }) {
      rig.ledger.moveAccount(id, 'account.suspend', OPERATOR);
      rig.ledger.moveAccount(id, 'account.reinstate', OPERATOR);
      return undefined;
    },
  },
  { action: 'account.deleted', by: operator, act: ({ id }) => void rig.ledger.deletePerson(id, OPERATOR) },
  { action: 'key.created', by: personal, act: (person) => mint(person).id },
  {
    action: 'key.changed',
    by: personal,
    act(person) {
      const { id } = mint(person);
      rig.ledger.changeKey(person.organisationId, id, { name: 'other' }, personal(person));
      return id;
    },
  },
  {
    action: 'key.rolled',
    by: personal,
    act(person) {
      const { id } = mint(person);
      rig.ledger.rollKey(person.organisationId, id, 1000, personal(person));
      return id;
    },
  },
  {
    action: 'key.revoked',
    by: personal,
    act(person) {
      const { id } = mint(person);
      rig.ledger.revokeKey(person.organisationId, id, personal(person));
      return id;
    },
  },
];

describe('the audit log of the organisation', () => {
  test.each(CASES)('records $action with its actor and target', ({ action, act, by }) => {
    const person = verified();
    const target = act(person) ?? person.id;
    const [newest] = rig.ledger.listAudit(person.organisationId, 1);
    expect(newest).toMatchObject({ action, target, organisationId: person.organisationId });
    expect(newest!.by).toEqual(by(person));
    expect(JSON.stringify(rig.ledger.listAudit(null, 100))).not.toMatch(/\$test|sealed/);
  });

  test('records a new account as unproven, and its proof', () => {
    const { verification } = signUp('ada@example.com', STRANGER);
    const { id, organisationId } = personCalled('ada@example.com')!;
    use(verification);
    const rows = rig.ledger.listAudit(organisationId, 10).reverse();
    expect(rows.map(({ action, by, target }) => ({ action, by, target }))).toEqual([
      { action: 'organisation.created', by: anonymous, target: organisationId },
      { action: 'sign-up', by: anonymous, target: id },
      { action: 'email.verified', by: { type: 'person', id, address: CLIENT }, target: id },
      { action: 'credit.added', by: { type: 'system', id: 'accounts' }, target: expect.any(String) },
    ]);
  });

  test('records refused logins once a minute, with their number', () => {
    const { organisationId, address } = verified();
    const refuse = (times: number) => {
      for (let each = 0; each < times; each++) {
        rig.ledger.noteRefusedLogin({ address, why: 'password', ...STRANGER });
      }
    };
    refuse(7);
    rig.clock.nowMs += MINUTE_MS - 1;
    refuse(1);
    rig.clock.nowMs += 1;
    refuse(3);
    const rows = rig.ledger.listAudit(organisationId, 10).filter(({ action }) => action === 'login.refused');
    expect(rows.map(({ detail }) => detail)).toEqual([
      { why: 'password', count: 8 },
      { why: 'password', count: 1 },
    ]);
  });
});
