// Events of `GET /v1/listen` about turns: what is said in them, by whom, and where they begin and end; and the members that all
// events are made of.
import { Type } from '@sinclair/typebox';

const Start = Type.Number({ description: 'Seconds from the beginning of the audio.' });
const End = Type.Number({ description: 'Seconds from the beginning of the audio.' });
const Confidence = Type.Number({ description: 'From 0 to 1; absent if the provider does not report it.' });
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
  seq: Type.Integer({ minimum: 1, description: 'Number of the event: increases by one, without gaps.' }),
  at: Type.String({ description: 'Time when it was sent: ISO 8601 UTC, with milliseconds.' }),
};

/** Of events that are about one channel. */
export const Channel = Type.Optional(
  Type.Integer({
    minimum: 0,
    description:
      'The number of the channel, from 0. Absent if the session has one channel, or if the event is about all of them.',
  }),
);

const Turn = Type.Integer({
  minimum: 0,
  description: 'Number of the turn: from 0, without gaps, separately for each channel.',
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
        description: 'With `turn_events=true`: number of the turn that will contain the words, if there are any.',
      }),
    ),
  },
  {
    description:
      'Speech has started, if the provider reports it. With `turn_events=true`, this event comes before the first transcript of each turn, with any provider. It comes again for the same turn if the earlier speech produced no words.',
  },
);

const EndOfTurnConfidence = Type.Optional(
  Type.Number({
    description:
      'The provider’s confidence that the turn is over, from 0 to 1; absent if the provider does not report it.',
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
      'Only with `turn_events=true`, and if the provider reports it: the turn may be over with these words, so you can prepare an answer. Exactly one of two events follows: `turn_ended`, with exactly this text, or `turn_resumed`.',
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
        '`speech`: the speaker continues. `revised`: the final has other words. `reheard`: the connection was lost, and the turn is replayed or gets no final. Reasons may be added.',
    }),
  },
  {
    description:
      'Only with `turn_events=true`: the turn was not over at the last `turn_eager_end`, or not with these words. Discard the prepared answer.',
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
      'Only with `turn_events=true`: the turn is over. Sent once per turn, immediately after its final transcript.',
  },
);

export const Transcript = Type.Object(
  {
    type: Type.Literal('transcript'),
    ...Common,
    channel: Channel,
    text: Type.String({ description: 'The text of the turn so far.' }),
    is_final: Type.Boolean({ description: 'True exactly once per turn: the text no longer changes.' }),
    turn: Turn,
    start: Start,
    end: End,
    model: Type.String({ description: 'Slug of the model that transcribed it.' }),
    confidence: Type.Optional(Confidence),
    speaker: Type.Optional(Speaker),
    language: Type.Optional(Type.String({ description: 'BCP-47, if the provider reports it.' })),
    words: Type.Optional(Type.Array(Word)),
  },
  {
    description:
      'The text of a turn: any number of times during the turn, then exactly once with `is_final`. Times keep rising across a failover.',
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
      description: 'The lowest number from here on. Lower numbers were used before.',
    }),
  },
  {
    description:
      'From here on, a new connection transcribes (after a failover, a reconnection or a pause). It does not know the earlier speakers: the same people get new numbers, never those of others. This event comes before the first transcript with such a number.',
  },
);
