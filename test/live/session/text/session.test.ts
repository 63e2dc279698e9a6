// A session with replacement rules, over real charts: interims, finals, words and turn events say the same, whatever model hears.
import { describe, expect, it } from 'vitest';
import type { Heard } from '../../../../machines/events.ts';
import { failure } from '../puppet.ts';
import { expectInOrder } from '../support.ts';
import { ended, finalsOf, partial, piece, say, stage } from '../turns/puppet-stage.ts';

const rules = {
  replacements: [
    { from: 'vox gate', to: 'Voxgate' },
    { from: 'um', to: '' },
  ],
  turnEvents: true,
};
const textsOf = (events: readonly { type: string }[]) =>
  (events as { type: string; is_final?: boolean; text?: string }[]).flatMap(({ type, is_final, text }) =>
    type === 'transcript' ? [`${is_final ? 'final' : 'interim'} ${text}`] : [],
  );

describe('a session with replacement rules', () => {
  it('applies them to interims, finals, words and ends of turns that may be ends', async () => {
    const { puppet, client } = await stage(rules);
    const words = ['Um', 'vox', 'gate'].map((word, index) => ({ word, start: index / 10, end: index / 10 + 0.1 }));
    const utterance = { ...say('Um vox gate.', 0), words };
    const eager: Heard = { type: 'partial', turnId: '1', utterance: say('Um vox gate', 0), boundary: 'eager_end' };
    await puppet.last.say(partial('1', say('Um', 0)), partial('1', say('Um vox', 0)), eager, ended('1', utterance));
    expect(textsOf(client.events)).toEqual(['interim vox', 'interim Voxgate', 'final Voxgate.']);
    expect(client.events).toContainEqual(expect.objectContaining({ type: 'turn_eager_end', text: 'Voxgate' }));
    expect(client.finals[0]?.words).toEqual([{ word: 'Voxgate', start: 0.1, end: expect.closeTo(0.3) }]);
    expectInOrder(client);
  });

  it('shows no interim that says nothing new by the rules, and a final of words that are all left out is empty', async () => {
    const { puppet, client } = await stage(rules);
    await puppet.last.say(
      partial('1', say('so', 0)),
      partial('1', say('so um', 0)),
      partial('1', say('so um we', 0)),
      ended('1', say('so um we', 0)),
      partial('2', say('um', 1)),
      ended('2', say('Um.', 1)),
    );
    expect(textsOf(client.events)).toEqual(['interim so', 'interim so we', 'final so we', 'final ']);
  });

  it('does not find a phrase over two finals, and holds neither back', async () => {
    const { puppet, client } = await stage(rules);
    await puppet.last.say(ended('1', say('this is vox', 0)), ended('2', say('gate', 1)));
    expect(finalsOf(client).map(([, text]) => text)).toEqual(['this is vox', 'gate']);
  });

  it('applies them to the next model after a failover, and no word is lost or doubled at the seam', async () => {
    const { rig, puppet, client } = await stage(rules);
    await puppet.last.say(piece('1', say('vox gate', 0)), ended('1'), partial('2', say('um vox', 1)));
    await puppet.last.say({ type: 'failed', failure: failure('next') });
    await rig.advance(20, 50);
    await puppet.last.say(partial('1', say('um vox gate', 1)), ended('1', say('um vox gate too', 1)));
    expect(finalsOf(client).map(([turn, text]) => [turn, text])).toEqual([
      [0, 'Voxgate'],
      [1, 'Voxgate too'],
    ]);
    expectInOrder(client);
  });
});

const CARD = '4111 1111 1111 1111';

describe('rules and redaction', () => {
  const both = (from: string, to: string, more = {}) => ({
    ...{ replacements: [{ from, to }], redacted: ['card', 'email'] as const, turnEvents: true },
    ...more,
  });

  it.each([
    ['changes a digit of a number', '1111', 'x', `it is ${CARD}`, 'it is [CARD]'],
    ['leaves out a digit of a number', '4111', '', `it is ${CARD}`, 'it is [CARD]'],
    ['makes a number of words', 'quadruple one', '1111', 'it is 4111 quadruple one quadruple one 1111', 'it is [CARD]'],
    ['makes an address of words', 'curl a', '@', 'to zoe curl a example.org now', 'to [EMAIL] now'],
    ['has the name of a label', 'card', 'Karte', `my card ${CARD}`, 'my Karte [CARD]'],
    ['has a label', '[card]', 'XXXX', `it is ${CARD} now`, 'it is XXXX now'],
    ['cuts into a label', '[', '', `it is ${CARD} [x]`, 'it is [CARD] x]'],
  ])('send no data where a rule %s', async (_, from, to, text, expected) => {
    const { puppet, client } = await stage(both(from, to));
    await puppet.last.say(partial('1', say(text, 0)), ended('1', say(text, 0)));
    const [final] = client.finals;
    expect(final?.text.replace(/(?<=to )zoe ?\[EMAIL\]/, '[EMAIL]')).toBe(expected);
    expect(JSON.stringify(client.events)).not.toMatch(/1111|example/);
  });

  it('hold a number over two turns no longer than redaction alone does, as it was said and as the rules make it', async () => {
    const { rig, puppet, client } = await stage(both('double one', '11'));
    await puppet.last.say(ended('1', say('4111 double one', 0)));
    await puppet.last.say(ended('2', say('double one 1111 1111', 1)));
    await rig.advance(1_500);
    expect(finalsOf(client).map(([, text]) => text)).toEqual(['[CARD]', '[CARD]']);
    await puppet.last.say(ended('3', say('so 4111 double one', 2)));
    await rig.advance(1_500);
    expect(finalsOf(client)).toHaveLength(3);
    expectInOrder(client);
  });

  it('count what each of them redacts once', async () => {
    const { rig, puppet, client } = await stage(both('quadruple one', '1111'));
    const text = `${CARD} or 4111 quadruple one quadruple one 1111`;
    await puppet.last.say(ended('1', say(text, 0)));
    // As it would be recovered after a crash.
    expect(client.session.opening.meter.snapshot).toMatchObject({ redactions: { card: 2 } });
    client.session.control({ type: 'close' });
    await rig.advance(100);
    await puppet.last.say({ type: 'finished' });
    await rig.advance(100);
    expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', redactions: { card: 2 } });
  });
});
