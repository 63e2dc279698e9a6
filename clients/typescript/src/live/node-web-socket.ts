// `ws` in the shape of a browser's WebSocket. Loaded in Node only, where it is wanted.
import WebSocket from 'ws';

/** Live audio does not shrink by compression: it costs time for nothing. */
export class NodeWebSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols, { perMessageDeflate: false });
  }
}
