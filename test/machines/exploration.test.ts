// Everything the machines can do with their samples, walked purely and replayed on real actors.

import { beforeAll, describe, expect, test } from 'vitest';
import { type AnyMachineSnapshot, transition } from 'xstate';
import { toGraph } from '../../machines/drawing/graph.ts';
import { machines } from '../../machines/index.ts';
import { endingKeys, hold, type Path, promisesDone, providedActions, type Subject } from '../fakes/explore.ts';
import { subjectOf, subjects } from './subjects.ts';

const ids = machines.map(({ id }) => id);
const session = subjectOf('session');
const turn = subjectOf('turn');

/** Drives a real actor along a path and compares it with the pure result after each event. */
async function replay(subject: Subject, { events, snapshots }: Path) {
  const held = hold(subject);
  for (const [index, event] of events.entries()) {
    await held.apply(event);
    const { value, status, context } = held.snapshot();
    const expected = snapshots[index];
    expect({ value, status, context }).toEqual({
      value: expected?.value,
      status: expected?.status,
      context: expected?.context,
    });
  }
  expect(held.errors).toEqual([]);
  return held;
}

describe.each(ids)('the machine %s', (id) => {
  const explored = subjects.filter((subject) => subject.id === id);
  const graph = toGraph(explored[0]!.subject.machine);

  test('gets into each of its states', () => {
    const entered = new Set<string>();
    for (const {
      explored: { snapshots, steps },
    } of explored) {
      for (const { _nodes } of snapshots.values()) for (const node of _nodes) entered.add(node.id);
      // States that are left at once are seen as the ends of edges only.
      const targets = new Map(graph.edges.map((edge) => [edge.id, edge.to]));
      for (const edge of steps.flatMap(({ edges }) => edges)) entered.add(targets.get(edge) ?? id);
    }
    expect(graph.nodes.filter((node) => !entered.has(node.id)).map((node) => node.id)).toEqual([]);
  });

  test('takes each of its edges, and a real actor on the same way gets to the same states', async () => {
    const untaken = new Set(graph.edges.map((edge) => edge.id));
    for (const {
      subject,
      explored: { edgePaths },
    } of explored) {
      for (const [edge, path] of edgePaths) {
        const held = await replay(subject, path);
        expect(held.edges).toContain(edge);
        untaken.delete(edge);
      }
    }
    expect([...untaken]).toEqual([]);
  });

  test('never fails, for any event in any state', () => {
    const statuses = explored.flatMap(({ explored: { steps } }) => steps.map(({ to }) => to.status));
    expect(new Set(statuses)).not.toContain('error');
  });

  test('keeps nothing in its context that does not survive JSON', () => {
    for (const {
      explored: { snapshots },
    } of explored) {
      for (const { context } of snapshots.values()) expect(JSON.parse(JSON.stringify(context))).toStrictEqual(context);
    }
  });
});

describe('the reachable ends', () => {
  const notEnding = (id: string, mayHappen: (type: string) => boolean): string[] => {
    const { explored } = subjectOf(id);
    const ending = endingKeys(explored, ({ type }) => mayHappen(type));
    return [...explored.snapshots.keys()].filter((key) => !ending.has(key));
  };

  test('exist from every state of a session, by time and its leg’s reports alone', () => {
    expect(notEnding('session', (type) => /^(xstate|upstream|audio)\./.test(type))).toEqual([]);
  });

  test('exist from every state of an upstream, without a cancel by its session', () => {
    expect(notEnding('upstream', (type) => type !== 'leg.close')).toEqual([]);
  });

  test('exist from every state of a node, without a forced stop', () => {
    expect(notEnding('node', (type) => type !== 'node.stop')).toEqual([]);
  });
});

describe('a session', () => {
  /** The real actor at the end of the shortest way to each snapshot, and how often it called its host. */
  const replayed: { end: AnyMachineSnapshot; calls: readonly string[]; count: (name: string) => number }[] = [];
  beforeAll(async () => {
    for (const path of session.explored.paths.values()) {
      const { calls, snapshot } = await replay(session.subject, path);
      replayed.push({ end: snapshot(), calls, count: (name) => calls.filter((call) => call === name).length });
    }
  });

  const ended = [...session.explored.snapshots.values()].filter(({ status }) => status === 'done');

  test('ends with a reason, and an error unless its client ended it', () => {
    expect(ended.length).toBeGreaterThan(3);
    for (const { context, output } of ended) {
      expect(context.reason).not.toBeNull();
      expect(output).toEqual({ reason: context.reason, error: context.error, attempts: context.attempts });
      expect(context.error === null).toBe(context.reason === 'client_closed');
    }
  });

  test('numbers its legs without gap or repetition', () => {
    const dials = toGraph(session.subject.machine).edges.filter(({ to }) => to === 'session.live.link.dialling');
    const dialIds = new Set(dials.map(({ id }) => id));
    for (const { from, to, edges } of session.explored.steps) {
      const opened = edges.filter((id) => dialIds.has(id)).length;
      expect(to.context.generation).toBe(from.context.generation + opened);
    }
  });

  test('takes no notice of what an older leg still says', () => {
    const stale = session.explored.steps.filter(
      ({ from, event }) => 'generation' in event && event.generation !== from.context.generation,
    );
    expect(stale.length).toBeGreaterThan(100);
    for (const { edges } of stale) expect(edges).toEqual([]);
  });

  test('stops accepting audio once, as soon as it is ending', () => {
    const ending = replayed.filter(({ end }) => end.status === 'active' && end.matches({ live: { client: 'ending' } }));
    expect(ending.filter(({ end }) => end.hasTag('accepts-audio')).length).toBeGreaterThan(3);
    for (const { count } of ending) expect(count('endAudio')).toBe(1);
  });

  test('opens the gate of a leg exactly while that leg takes audio', () => {
    for (const { end, calls } of replayed) {
      // A leg that is let go of has no gate any more.
      const last = calls.findLast((call) => ['openGate', 'closeGate', 'closeLeg'].includes(call));
      expect(last === 'openGate').toBe(end.hasTag('accepts-audio'));
    }
  });

  test('closes each leg before it opens the next one, and the last one before it ends', () => {
    for (const { end, count } of replayed) {
      const hasLeg =
        end.status === 'active' && /dialling|streaming|expiring|suspending|finishing/.test(JSON.stringify(end.value));
      expect(count('closeLeg')).toBeGreaterThanOrEqual(count('openLeg') - (hasLeg ? 1 : 0));
    }
  });
});

describe('a turn', () => {
  test('delivers its final exactly when it ends, and notifies the session each time', () => {
    const { machine } = turn.subject;
    for (const { from, event, to } of turn.explored.steps) {
      const [, actions] = transition(machine, from, event);
      const names = actions.map(({ type }) => type).filter((type) => !type.startsWith('xstate.'));
      const isGivenUp = ['turn.discarded', 'turn.resumed'].includes(event.type) && !from.matches('awaitingFormatted');
      if (from.matches('speaking') && event.type === 'turn.kept') {
        expect([names, to.value]).toEqual([['deliverFinal'], 'idle']);
        continue;
      }
      const isEnded =
        ((from.matches('speaking') || from.matches('awaitingWords')) && to.matches('idle') && !isGivenUp) ||
        (from.matches('awaitingWords') && to.matches('speaking') && !isGivenUp) ||
        (from.matches('awaitingFormatted') && !to.matches('awaitingFormatted'));
      expect(names).toEqual(isEnded ? ['deliverFinal', 'tellSettled'] : []);
    }
  });
});

describe('a host whose action throws', () => {
  const cases = subjects.flatMap(({ id, subject, explored }) =>
    providedActions(subject.machine).map((action) => ({ id, action, subject, explored })),
  );

  test.each(cases)('$action of $id: is reported once, to the error observer', async ({ action, subject, explored }) => {
    const broken = new Error(`${action} is broken.`);
    let thrown = 0;
    const failing = (name: string): void => {
      if (name !== action || thrown > 0) return;
      thrown += 1;
      throw broken;
    };
    for (const { events } of explored.edgePaths.values()) {
      const held = hold(subject, { onAction: failing });
      for (const event of events) if (thrown === 0) await held.apply(event);
      if (thrown === 0) continue;
      await promisesDone();
      expect(held.snapshot().status).toBe('error');
      expect(held.errors).toEqual([broken]);
      break;
    }
    expect(thrown).toBe(1);
  });
});
