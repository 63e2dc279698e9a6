// What every server adapter promises (src/http/server.ts), each promise once. An implementation's test opens its server and names its gaps.
import { bodySuite } from './server-adapter/bodies.ts';
import { earlyAnswerSuite } from './server-adapter/early-answers.ts';
import { type AdapterUnderTest, closeAfterEach } from './server-adapter/fixture.ts';
import { floodSuite } from './server-adapter/floods.ts';
import { frameSuite } from './server-adapter/frames.ts';
import { framingSuite } from './server-adapter/framing.ts';
import { handshakeSuite } from './server-adapter/handshakes.ts';
import { headSuite } from './server-adapter/heads.ts';
import { listeningSuite } from './server-adapter/listening.ts';
import { requestSuite } from './server-adapter/requests.ts';
import { slowReaderSuite } from './server-adapter/slow-readers.ts';
import { socketSuite } from './server-adapter/sockets.ts';
import { streamSuite } from './server-adapter/streams.ts';

export function serverAdapterSuite(under: AdapterUnderTest): void {
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
