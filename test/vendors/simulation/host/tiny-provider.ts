// The smallest provider with every part of the contract: what its ear says goes out as it is.
import type {
  ProviderSimulator,
  SimulatedAnswer,
  SimulatedPeer,
  SimulatedRequest,
  SimulatorTools,
} from '../../../../src/vendors/kit/simulation.ts';

const refusal = (status: number): SimulatedAnswer => ({
  status,
  headers: { 'retry-after': '7' },
  body: { error: `tiny ${status}` },
});

/**
 * `GET /listen?rate=…` with `authorization: Token good` says `hello`, takes audio and the texts `finalize`, `finish` (which
 * ends in `finished` and a close with 1000), `bye` (a close without a code), `flood <n>` (n finals at once) and `oops` (a
 * fault of its own).
 * `POST /transcribe` takes a WAV file.
 */
export const tinyProvider: ProviderSimulator = {
  provider: 'tiny',
  quirks: { shout: 'says everything in capitals', volume: 'a quirk with a value' },
  refusal,
  failure: () => ({ messages: [{ type: 'error', code: 'tiny_failure' }], close: { code: 1011, reason: 'tiny' } }),
  isFinal: ({ type }) => type === 'final',

  upgrade(request, tools) {
    if (request.headers.authorization !== 'Token good') return { refuse: refusal(401) };
    const wanted = request.headers['sec-websocket-protocol']?.split(',')[0];
    return {
      ...(wanted === undefined ? {} : { subprotocol: wanted }),
      connect: (peer) => connect(request, tools, peer),
    };
  },

  async http(request, tools) {
    if (request.url.pathname !== '/transcribe') return refusal(404);
    try {
      return { status: 200, body: await tools.transcribe(request.body, undefined) };
    } catch (error) {
      return { status: 400, body: { error: (error as Error).message } };
    }
  },
};

function connect({ url }: SimulatedRequest, tools: SimulatorTools, peer: SimulatedPeer) {
  const sampleRate = Number(url.searchParams.get('rate') ?? 16_000);
  const isLoud = tools.quirk('shout') !== undefined;
  peer.send({ type: 'hello', id: tools.newId(), volume: tools.quirk('volume') ?? null });
  const ear = tools.openEar({ sampleRate, language: undefined }, (message) => {
    peer.send('text' in message && isLoud ? { ...message, text: message.text.toUpperCase() } : { ...message });
    if (message.type === 'finished') peer.close(1000, 'done');
  });
  return {
    text(text: string) {
      if (text === 'oops') throw new Error('a fault of the tiny provider');
      if (text === 'bye') peer.close();
      else if (text === 'finalize') ear.finalize();
      else if (text === 'finish') ear.finish();
      else if (text.startsWith('flood ')) {
        for (let count = Number(text.slice(6)); count > 0; count--) peer.send({ type: 'final' });
      } else peer.send({ type: 'echo', text });
    },
    bytes: (bytes: Uint8Array) => ear.audio(bytes),
    gone: () => ear.close(),
  };
}
