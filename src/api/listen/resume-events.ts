// Events of sessions that can be resumed: what is safe of the client's audio, and that its session goes on.
import { Type } from '@sinclair/typebox';
import { Common } from './turn-events.ts';

const ReceivedBytes = Type.Integer({
  minimum: 0,
  description: 'Bytes of audio that were taken since the session began, on all of its sockets together.',
});

export const Received = Type.Object(
  { type: Type.Literal('received'), ...Common, bytes: ReceivedBytes },
  {
    description:
      'With `resume=on`, once a second when it grew: audio up to there need not be sent again when the socket breaks.',
  },
);

export const SessionResumed = Type.Object(
  {
    type: Type.Literal('session_resumed'),
    ...Common,
    seq: Type.Integer({ minimum: 0, description: 'As you said: the number of the last event that you have had.' }),
    received_bytes: ReceivedBytes,
    next_seq: Type.Integer({ minimum: 1, description: 'Number of the event that follows.' }),
    limits: Type.Optional(
      Type.Object({
        binary_frame_bytes: Type.Integer({
          description:
            'Largest binary frame on this socket; less than at the start where the node that it has reached is busy.',
        }),
      }),
    ),
  },
  {
    description:
      'The first event of a socket that goes on with a session: send the audio from `received_bytes` on. The events that you have not had follow.',
  },
);

/** Of a session that begins because the one that was to be resumed is gone. */
export const Continues = Type.Object(
  {
    session_id: Type.String({ description: 'The session that is gone.' }),
    from_bytes: Type.Optional(
      Type.Integer({ minimum: 0, description: 'The same in bytes of audio; absent where it is Opus.' }),
    ),
    from_seconds: Type.Number({
      description:
        'Where the last final ended that you said you have: send the audio from there. Times of this session begin at zero again.',
    }),
  },
  { description: 'Of a session that `resume` was to go on with, and that is gone: this one is new.' },
);
