// The rules of a simulated service that no official SDK breaks: a client that does is refused, or told and closed, as its row says.
import { describe, expect, it } from 'vitest';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorStage } from '../../../src/vendors/simulation/stage.ts';
import { EventClock } from '../../simulation/event-clock.ts';
import type { RuleFixtures } from './fixtures.ts';

const HOUR_MS = 3_600_000;

export function testRules(simulator: ProviderSimulator, { path, headers, rows }: RuleFixtures): void {
  describe(`${simulator.provider} simulated: a session`, () => {
    it.each(Object.entries(rows))('follows its rule: %s', async (_, [change, frames, expected]) => {
      const clock = new EventClock();
      const ear = scriptEar({ turns: [{ text: 'hello and welcome', seconds: 1 }] });
      const url = new URL(path, 'http://provider.test');
      for (const [name, value] of Object.entries(change.query ?? {})) url.searchParams.set(name, value);
      const upgrade = new SimulatorStage({ simulator, ear, clock }).upgrade({
        ...{ method: 'GET', url, body: new Uint8Array() },
        headers: { ...headers, ...change.headers },
      });
      if (upgrade.type !== 'accept') {
        expect({ status: upgrade.type === 'refuse' && upgrade.answer.status }).toEqual(expected);
        return;
      }
      const said: unknown[] = [];
      let code: number | undefined;
      const connection = upgrade.connect({
        send: (message) => said.push(typeof message === 'string' ? JSON.parse(message) : message),
        close: (told = 1005) => {
          code = told;
        },
        drop: () => {},
        freeze: () => {},
      });
      for (const frame of frames)
        if (frame instanceof Uint8Array) connection.bytes(frame);
        else connection.text(typeof frame === 'string' ? frame : JSON.stringify(frame));
      await clock.run(HOUR_MS, () => code !== undefined);
      expect({ code, last: said.at(-1) }).toMatchObject(expected);
    });
  });
}
