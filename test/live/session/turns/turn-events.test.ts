// The bounds of turns as clients hear them that ask for them: the same words for every provider, whatever it tells of its turns.
import { describe, expect, it } from 'vitest';
import type { Heard, Utterance } from '../../../../machines/events.ts';
import type { ServerEvent } from '../../../../src/api/listen-events.ts';
import type { RigClient } from '../../../fakes/session-rig.ts';
import { puppetRig } from '../puppet.ts';
import { expectInOrder, expectNothingLeft, speech, untilEnded } from '../support.ts';

const say = (text: string, start = 0, end = start + 0.5): Utterance => ({ text, start, end });
const spoke = (start: number): Heard => ({ type: 'speech.started', start });
const partial = (turnId: string, utterance: Utterance, more: object = {}): Heard => ({
  type: 'partial',
  turnId,
  utterance,
  ...more,
});
const eager = (turnId: string, utterance: Utterance): Heard =>
  partial(turnId, utterance, { boundary: 'eager_end', endConfidence: 0.6 });
const resumed = (turnId: string, utterance: Utterance): Heard => partial(turnId, utterance, { boundary: 'resumed' });
const ended = (turnId: string, utterance: Utterance, formattedFollows = false): Heard => ({
  type: 'turn.ended',
  turnId,
  utterance,
  formattedFollows,
});

async function stage(request: { interimResults?: boolean; turnEvents?: boolean } = {}) {
  const { rig, puppet } = puppetRig();
  const chain = { model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }] };
  const client = await rig.open({ ...chain, turnEvents: true, ...request });
  client.session.audio(speech(10));
  await rig.advance(2, 1);
  return { rig, puppet, client };
}

/** One short line for each event about a turn. */
const toldTo = (client: RigClient): string[] => client.events.flatMap(lineOf);

function lineOf(event: ServerEvent): string[] {
  switch (event.type) {
    case 'speech_started':
      return [`speech${event.turn === undefined ? '' : ` ${event.turn}`} at ${event.start}`];
    case 'transcript':
      return [`${event.is_final ? 'final' : 'interim'} ${event.turn} "${event.text}"`];
    case 'turn_eager_end':
      return [`eager ${event.turn} "${event.text}"`];
    case 'turn_resumed':
      return [`resumed ${event.turn} ${event.reason}`];
    case 'turn_ended':
      return [`ended ${event.turn}`];
    default:
      return [];
  }
}

describe('the bounds of turns', () => {
  it.each<[string, Heard[], string[]]>([
    [
      'come with the first words and after the final where a provider reports none',
      [partial('1', say('a')), ended('1', say('a b')), ended('2', say('c', 1))],
      ['speech 0 at 0', 'interim 0 "a"', 'final 0 "a b"', 'ended 0', 'speech 1 at 1', 'final 1 "c"', 'ended 1'],
    ],
    [
      'come where the provider detects speech, once for a turn',
      [spoke(0.2), partial('1', say('a', 0.4)), spoke(0.6), ended('1', say('a', 0.4, 1)), spoke(2)],
      ['speech 0 at 0.2', 'interim 0 "a"', 'final 0 "a"', 'ended 0', 'speech 1 at 2'],
    ],
    [
      'are sent again where speech led to no words',
      [spoke(0.2), ended('1', say('', 0, 1)), spoke(2), ended('2', say('a', 2))],
      ['speech 0 at 0.2', 'speech 0 at 2', 'final 0 "a"', 'ended 0'],
    ],
    [
      'tell of the next turn behind the end of the one before, where its speech began before that had its words',
      [spoke(0), spoke(3), partial('1', say('a', 0, 2)), ended('1', say('a', 0, 2)), ended('2', say('b', 3))],
      [
        ...['speech 0 at 0', 'speech 0 at 3', 'interim 0 "a"', 'final 0 "a"', 'ended 0'],
        ...['speech 1 at 3', 'final 1 "b"', 'ended 1'],
      ],
    ],
    [
      'have an early end that holds',
      [partial('1', say('a')), eager('1', say('a b')), partial('1', say('a b')), ended('1', say('a b'))],
      [
        ...['speech 0 at 0', 'interim 0 "a"', 'interim 0 "a b"', 'eager 0 "a b"', 'interim 0 "a b"'],
        ...['final 0 "a b"', 'ended 0'],
      ],
    ],
    [
      'have early ends that are taken back, each once',
      [
        eager('1', say('a')),
        resumed('1', say('a')),
        resumed('1', say('a')),
        eager('1', say('a b')),
        ended('1', say('a b')),
      ],
      [
        ...['speech 0 at 0', 'interim 0 "a"', 'eager 0 "a"', 'interim 0 "a"', 'resumed 0 speech', 'interim 0 "a"'],
        ...['interim 0 "a b"', 'eager 0 "a b"', 'final 0 "a b"', 'ended 0'],
      ],
    ],
    [
      'have no two early ends with nothing between: other words take the first back',
      [eager('1', say('a')), eager('1', say('a')), eager('1', say('a b')), partial('1', say('a b c'))],
      [
        ...['speech 0 at 0', 'interim 0 "a"', 'eager 0 "a"', 'interim 0 "a"', 'interim 0 "a b"', 'resumed 0 speech'],
        ...['eager 0 "a b"', 'interim 0 "a b c"', 'resumed 0 speech'],
      ],
    ],
    [
      'take an early end back whose words are not those of the final, formatted or not',
      [
        ...[eager('1', say('a')), ended('1', say('b'))],
        ...[eager('2', say('c', 1)), ended('2', say('c', 1), true)],
        { type: 'turn.formatted', turnId: '2', utterance: say('C.', 1) },
      ],
      [
        ...['speech 0 at 0', 'interim 0 "a"', 'eager 0 "a"', 'resumed 0 revised', 'final 0 "b"', 'ended 0'],
        ...['speech 1 at 1', 'interim 1 "c"', 'eager 1 "c"', 'resumed 1 revised', 'final 1 "C."', 'ended 1'],
      ],
    ],
    [
      'close a turn that was shown and came to nothing',
      [eager('1', say('uh', 1)), ended('1', say('', 1, 2))],
      ['speech 0 at 1', 'interim 0 "uh"', 'eager 0 "uh"', 'resumed 0 revised', 'final 0 ""', 'ended 0'],
    ],
    [
      'take a word of theirs that is not known here for none',
      [partial('1', say('a'), { boundary: 'wavering' }), ended('1', say('a'))],
      ['speech 0 at 0', 'interim 0 "a"', 'final 0 "a"', 'ended 0'],
    ],
  ])('%s', async (_, messages, lines) => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(...messages);
    await rig.advance(1_000);
    expect(toldTo(client)).toEqual(lines);
    expectInOrder(client);
  });

  it('say how sure the provider is, and where the words lie', async () => {
    const { puppet, client } = await stage({ interimResults: false });
    const end = { ...ended('1', say('a', 1, 2)), endConfidence: 0.9 } as Heard;
    await puppet.last.say(eager('1', say('a', 1, 2)), end, ended('2', say('b', 3)));
    expect(client.of('turn_eager_end')).toMatchObject([
      { turn: 0, text: 'a', start: 1, end: 2, model: 'puppet/a', end_of_turn_confidence: 0.6 },
    ]);
    expect(client.of('turn_ended')).toMatchObject([
      { turn: 0, start: 1, end: 2, end_of_turn_confidence: 0.9 },
      { turn: 1, start: 3, end: 3.5 },
    ]);
    expect(client.of('turn_ended')[1]).not.toHaveProperty('end_of_turn_confidence');
  });

  it('come without interims as well, and then every turn with words has its final', async () => {
    const { puppet, client } = await stage({ interimResults: false });
    await puppet.last.say(eager('1', say('a')), ended('1', say('')), ended('2', say('b', 1)));
    expect(toldTo(client)).toEqual([
      ...['speech 0 at 0', 'eager 0 "a"', 'resumed 0 revised', 'final 0 ""', 'ended 0'],
      ...['speech 1 at 1', 'final 1 "b"', 'ended 1'],
    ]);
    expectInOrder(client);
  });

  it('stay hidden where they were not requested: speech is reported as the provider does', async () => {
    const { puppet, client } = await stage({ turnEvents: false });
    await puppet.last.say(spoke(0), spoke(0), eager('1', say('a')), ended('1', say('a')), ended('2', say('b', 1)));
    expect(toldTo(client)).toEqual(['speech at 0', 'speech at 0', 'interim 0 "a"', 'final 0 "a"', 'final 1 "b"']);
    expectInOrder(client);
  });
});

describe('a lost leg after an early end', () => {
  it('takes it back, and the next model decides when the turn is over', async () => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(spoke(0), eager('1', say('hello there', 0, 2)));
    await puppet.last.hangUp(1011);
    await rig.advance(500);
    // Heard again: the same speech, and less than was shown, is not told twice.
    await puppet.last.say(spoke(0.1), eager('1', say('hello', 0, 1)));
    await puppet.last.say(eager('1', say('hello there', 0, 2)), ended('1', say('hello there', 0, 2)));
    expect(toldTo(client)).toEqual([
      ...['speech 0 at 0', 'interim 0 "hello there"', 'eager 0 "hello there"', 'resumed 0 reheard'],
      ...['interim 0 "hello there"', 'eager 0 "hello there"', 'final 0 "hello there"', 'ended 0'],
    ]);
    expectInOrder(client);
  });

  it('leaves nothing open at the session’s end when no leg continues', async () => {
    const { rig, puppet, client } = await stage();
    await puppet.last.say(eager('1', say('hello', 0, 2)));
    for (let leg = 0; leg < 4 && client.summary === undefined; leg++) {
      await puppet.last.hangUp(1011);
      await rig.advance(2_000, 250);
    }
    await untilEnded(rig, client);
    expect(toldTo(client)).toEqual(['speech 0 at 0', 'interim 0 "hello"', 'eager 0 "hello"', 'resumed 0 reheard']);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });
});
