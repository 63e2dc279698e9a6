// A session whose request wants redaction, over real charts: one final for each turn, nothing of a number before it is whole.
import { expect, it } from 'vitest';
import { settle } from '../../../fakes/session-rig.ts';
import { puppetRig } from '../puppet.ts';
import { expectInOrder, hum } from '../support.ts';
import { ended, finalsOf, partial, piece, say, stage } from '../turns/puppet-stage.ts';

const redacted = { redacted: ['card', 'email'] as const, turnEvents: true };
const CARD = '4111 1111 1111 1111';

it('redacts interims, finals and the words of both', async () => {
  const { puppet, client } = await stage(redacted);
  const words = [...CARD.split(' ')].map((word, index) => ({ word, start: index / 10, end: index / 10 + 0.1 }));
  const utterance = { ...say(CARD, 0), words };
  await puppet.last.say(partial('1', say('4111 1111', 0)), partial('1', utterance), ended('1', utterance));
  expect(finalsOf(client)).toEqual([[0, '[CARD]', 0, 0.5]]);
  expect(JSON.stringify(client.events)).not.toContain('1111');
  expect(client.finals[0]?.words).toEqual([{ word: '[CARD]', start: 0, end: 0.4 }]);
  expectInOrder(client);
});

it('gives one final to each turn of a number over two, within the time that it may wait', async () => {
  const { rig, puppet, client } = await stage(redacted);
  await puppet.last.say(piece('1', say('4111 1111', 0)), ended('1'));
  expect(client.finals).toEqual([]);
  await puppet.last.say(ended('2', say('1111 1111', 1)));
  expect(finalsOf(client).map(([turn, text]) => [turn, text])).toEqual([
    [0, '[CARD]'],
    [1, '[CARD]'],
  ]);
  await puppet.last.say(ended('3', say('4111 1111', 2)));
  expect(client.finals).toHaveLength(2);
  await rig.advance(1_500);
  expect(client.finals).toHaveLength(3);
  expectInOrder(client);
});

it('sends what waits before the session ends, and no other event before it', async () => {
  const { rig, puppet, client } = await stage(redacted, hum(3));
  await puppet.last.say(ended('1', say('my card is 4111', 0)));
  client.session.control({ type: 'close' });
  await rig.advance(100);
  await puppet.last.say({ type: 'finished' });
  await rig.advance(100);
  expect(client.events.map(({ type }) => type).slice(-3)).toEqual(['transcript', 'turn_ended', 'session_ended']);
  expectInOrder(client);
});

it('ends alone with an internal error where a checked final cannot be written, and others continue', async () => {
  const answers: (() => void)[] = [];
  const analyzer = { find: () => new Promise<[]>((resolve) => void answers.push(() => resolve([]))) };
  const { rig, puppet } = puppetRig({ rig: { analyzer } });
  const request = { model: 'puppet/a', redacted: ['name'] as const };
  const open = async () => {
    const client = await rig.open(request);
    client.session.audio(hum(2));
    await rig.advance(2, 1);
    return { client, said: puppet.last };
  };
  const [failing, other] = [await open(), await open()];
  await failing.said.say(ended('1', say('one', 0)), ended('2', say('two', 1)));
  await other.said.say(ended('1', say('other', 0)));
  const send = failing.client.send.bind(failing.client);
  failing.client.send = (text) => {
    if (text.includes('"one"')) throw new Error('It could not be written.');
    return send(text);
  };
  // Of the second turn of the first session there is none.
  answers[0]?.();
  answers[2]?.();
  await settle();
  await failing.client.ended();
  expect([failing.client.closeCode, failing.client.summary?.code]).toEqual([1011, 'internal_error']);
  expect(failing.client.finals.map(({ text }) => text)).toEqual(['[REDACTED]']);
  expect(rig.faults.map(({ name }) => name)).toEqual(['texts']);
  expect(other.client.finals.map(({ text }) => text)).toEqual(['other']);
  expect([other.client.closeCode, rig.sessions.size]).toEqual([undefined, 1]);
});
