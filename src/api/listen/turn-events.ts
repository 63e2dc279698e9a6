// Events of `GET /v1/listen` about turns: what is said in them, by whom, and where they begin and end; and the members that all
// events are made of.
import { Type } from '@sinclair/typebox';

const Start = Type.Number({ description: 'Seconds from the beginning of the audio.' });
const End = Type.Number({ description: 'Seconds from the beginning of the audio.' });
const Confidence = Type.Number({ description: 'From 0 to 1; absent where the provider tells none.' });
const Speaker = Type.Integer({
  minimum: 0,
  description:
    'Numbered from 0 in the order of first appearance. The same person has one number up to the next `speakers_restarted`.',
});
export const Slug = Type.String({ description: 'Slug `<provider>/<model>`.' });

export const Word = Type.Object({
  word: Type.String(),
  start: Start,
  end: End,
  confidence: Type.Optional(Confidence),
  speaker: Type.Optional(Speaker),
});

/** The members that every event has. */
export const Common = {
  session_id: Type.String({ pattern: '^ses_', description: 'The session.' }),
  seq: Type.Integer({ minimum: 1, description: 'Number of the event: rises by one, without gaps.' }),
  at: Type.String({ description: 'When it was sent: ISO 8601 UTC, with milliseconds.' }),
};

/** Of events that are about one channel. */
export const Channel = Type.Optional(
  Type.Integer({
    minimum: 0,
    description:
      'The channel that it is about, from 0; absent where the session has one, or where it is about all of them.',
  }),
);

const Turn = Type.Integer({
  minimum: 0,
  description: 'Number of the turn: from 0, without gaps; of each channel by itself, where there are several.',
});

export const SpeechStarted = Type.Object(
  {
    type: Type.Literal('speech_started'),
    ...Common,
    channel: Channel,
    start: Start,
    turn: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'With `turn_events=true`: number of the turn that the words will be, if words come of it.',
      }),
    ),
  },
  {
    description:
      'Somebody has begun to speak, where the provider tells it. With `turn_events=true` it comes before the first transcript of each turn, whatever the provider tells; once more for the same turn where the speech before it came to no words.',
  },
);

const EndOfTurnConfidence = Type.Optional(
  Type.Number({
    description: 'How sure the provider is that the turn is over, from 0 to 1; absent where it tells none.',
  }),
);

export const TurnEagerEnd = Type.Object(
  {
    type: Type.Literal('turn_eager_end'),
    ...Common,
    channel: Channel,
    turn: Turn,
    text: Type.String({ description: 'The text of the turn so far.' }),
    start: Start,
    end: End,
    model: Slug,
    end_of_turn_confidence: EndOfTurnConfidence,
  },
  {
    description:
      'Only with `turn_events=true`, and where the provider tells it: the turn may be over with these words, so that an answer can be prepared. Exactly one of two follows: `turn_ended`, with this very text, or `turn_resumed`.',
  },
);

export const TurnResumed = Type.Object(
  {
    type: Type.Literal('turn_resumed'),
    ...Common,
    channel: Channel,
    turn: Turn,
    reason: Type.String({
      description:
        '`speech`: the speaker goes on; `revised`: the final has other words; `reheard`: the connection that heard the turn was lost, and it is heard again or stays without a final. Reasons may be added.',
    }),
  },
  {
    description:
      'Only with `turn_events=true`: the turn was not over at the last `turn_eager_end`, or not with these words. What was prepared for it is to be thrown away.',
  },
);

export const TurnEnded = Type.Object(
  {
    type: Type.Literal('turn_ended'),
    ...Common,
    channel: Channel,
    turn: Turn,
    start: Start,
    end: End,
    end_of_turn_confidence: EndOfTurnConfidence,
  },
  {
    description:
      'Only with `turn_events=true`: the turn is over. Once for each turn, right behind its final transcript.',
  },
);

export const Transcript = Type.Object(
  {
    type: Type.Literal('transcript'),
    ...Common,
    channel: Channel,
    text: Type.String({ description: 'The text of the turn so far.' }),
    is_final: Type.Boolean({ description: 'True once for each turn: nothing changes any more.' }),
    turn: Turn,
    start: Start,
    end: End,
    model: Type.String({ description: 'Slug of the model that heard it.' }),
    confidence: Type.Optional(Confidence),
    speaker: Type.Optional(Speaker),
    language: Type.Optional(Type.String({ description: 'BCP-47, where the provider tells it.' })),
    words: Type.Optional(Type.Array(Word)),
  },
  {
    description:
      'What was said in a turn: any number of times while it goes on, then exactly once with `is_final`. Times keep rising across a failover.',
  },
);

export const SpeakersRestarted = Type.Object(
  {
    type: Type.Literal('speakers_restarted'),
    ...Common,
    channel: Channel,
    start: Start,
    first_speaker: Type.Integer({
      minimum: 1,
      description: 'The lowest number from there on: all below it were given before.',
    }),
  },
  {
    description:
      'From there on another connection hears (after a failover, a reconnection or a pause), which does not know who spoke before: the same people get new numbers, never those of others. Comes before the first transcript with such a number.',
  },
);
