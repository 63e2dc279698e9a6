// Events of sessions that can be resumed: what is safe of the client's audio, and that its session goes on.
import { Type } from '@sinclair/typebox';
import { Common } from './turn-events.ts';

const ReceivedBytes = Type.Integer({
  minimum: 0,
  description: 'Bytes of audio accepted since the session began, on all of its sockets together.',
});

export const Received = Type.Object(
  { type: Type.Literal('received'), ...Common, bytes: ReceivedBytes },
  {
    description:
      'With `resume=on`, once a second if the value grew. You need not send audio up to this position again when the socket breaks.',
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
          description: 'Largest binary frame on this socket. It may be smaller than at the start if this node is busy.',
        }),
      }),
    ),
  },
  {
    description:
      'The first event of a socket that continues a session. Send the audio from `received_bytes` on. The events that you missed follow.',
  },
);

/** Of a session that begins because the one that was to be resumed is gone. */
export const Continues = Type.Object(
  {
    session_id: Type.String({ description: 'The session that is gone.' }),
    from_bytes: Type.Optional(
      Type.Integer({ minimum: 0, description: 'The same position in bytes of audio; absent for Opus.' }),
    ),
    from_seconds: Type.Number({
      description:
        'The end of the last final that you reported. Send the audio from there. Times of this session start at zero again.',
    }),
  },
  { description: 'Present if the session named by `resume` is gone: this session is new.' },
);
