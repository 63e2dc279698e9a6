// Simulated providers that do something else than they would: what they say is altered, or what they are told ends them.
import type { ProviderSimulator, SimulatedConnection, SimulatedPeer } from '../../../src/vendors/kit/simulation.ts';
import { simulators } from '../../../src/vendors/simulators.ts';

export type Message = Readonly<Record<string, unknown>>;

type Alter = (message: Message) => readonly Message[];
type Connect = (peer: SimulatedPeer) => SimulatedConnection;

export const simulatorOf = (provider: string): ProviderSimulator =>
  simulators.find((each) => each.provider === provider) as ProviderSimulator;

/** The provider's simulator, which says for each message what `alter` makes of it: others before or in place of it, or none. */
export const altered = (provider: string, alter: Alter): ProviderSimulator => alteredAnew(provider, () => alter);

/** The same, with an `alter` of its own for each connection. */
export function alteredAnew(provider: string, begin: () => Alter): ProviderSimulator {
  return wrapped(provider, (connect) => (peer) => {
    const alter = begin();
    return connect({
      send: (message) => {
        // Simulators say objects, whatever their protocol makes of them.
        for (const said of alter(message as Message)) peer.send(said);
      },
      close: (code, reason) => peer.close(code, reason),
    });
  });
}

/** The provider's simulator, which closes with 1000 when it is sent such a frame. */
export function closing(provider: string, on: (frame: string | Uint8Array) => boolean): ProviderSimulator {
  return wrapped(provider, (connect) => (peer) => {
    const connection = connect(peer);
    return {
      text: (text) => (on(text) ? peer.close(1000, '') : connection.text(text)),
      bytes: (bytes) => (on(bytes) ? peer.close(1000, '') : connection.bytes(bytes)),
      gone: () => connection.gone(),
    };
  });
}

function wrapped(provider: string, wrap: (connect: Connect) => Connect): ProviderSimulator {
  const simulator = simulatorOf(provider);
  return {
    ...simulator,
    upgrade(request, tools) {
      const upgrade = simulator.upgrade(request, tools);
      return 'refuse' in upgrade ? upgrade : { ...upgrade, connect: wrap((peer) => upgrade.connect(peer)) };
    },
  };
}
