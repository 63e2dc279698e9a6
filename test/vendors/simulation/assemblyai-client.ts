// Sessions of the simulated AssemblyAI.
import type { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { Client, type Message, silence } from './client.ts';

/** Asks for a session. `key` is '' for none. */
export function dial({ url }: SimulatorServer, query: Record<string, string> = {}, key = 'key-1'): Client {
  return new Client(`${url}/v3/ws?${new URLSearchParams(query)}`, key === '' ? {} : { authorization: key });
}

export const isFinal = (message: Message): boolean => message.end_of_turn === true;

/** Of silence. */
export const milliseconds = (count: number): Uint8Array => silence(count / 1_000);
