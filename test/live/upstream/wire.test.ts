// One wire suite, run with the scripted provider in this process and behind a real WebSocket.
import { EngineServer } from '../../fakes/processes/engine-server.ts';
import { wireSuite } from '../../suites/wire.suite.ts';

wireSuite('embedded', async () => ({
  endpoint: { kind: 'embedded', engine: 'loopback', query: {} },
  access: { baseUrl: undefined, credential: undefined },
  idle: async () => {},
  close: async () => {},
}));

wireSuite('behind a WebSocket', async (engine) => {
  const server = await EngineServer.start(engine);
  return {
    endpoint: { kind: 'websocket', url: server.url, headers: {} },
    access: { baseUrl: server.url, credential: undefined },
    idle: () => server.idle(),
    close: () => server.close(),
  };
});
