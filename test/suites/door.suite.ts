// What every server adapter promises (src/http/server.ts), each promise once. An implementation's test opens its server and names its gaps.
import { bodySuite } from './door/bodies.ts';
import { earlyAnswerSuite } from './door/early-answers.ts';
import { closeAfterEach, type DoorUnderTest } from './door/fixture.ts';
import { floodSuite } from './door/floods.ts';
import { frameSuite } from './door/frames.ts';
import { framingSuite } from './door/framing.ts';
import { handshakeSuite } from './door/handshakes.ts';
import { headSuite } from './door/heads.ts';
import { listeningSuite } from './door/listening.ts';
import { requestSuite } from './door/requests.ts';
import { slowReaderSuite } from './door/slow-readers.ts';
import { socketSuite } from './door/sockets.ts';
import { streamSuite } from './door/streams.ts';

export function doorSuite(under: DoorUnderTest): void {
  closeAfterEach();
  requestSuite(under);
  headSuite(under);
  framingSuite(under);
  bodySuite(under);
  earlyAnswerSuite(under);
  streamSuite(under);
  slowReaderSuite(under);
  handshakeSuite(under);
  socketSuite(under);
  frameSuite(under);
  floodSuite(under);
  listeningSuite(under);
}
