// Somebody who can connect to the NATS of a gateway on two nodes, and has not its secret: listens for what a customer says, makes
// up every kind of message that there is, and sends again what was recorded. The customer's session goes on, and nobody answers.
import { connect } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { encodeFrame } from '../../src/cluster/bus/nats/frames.ts';
import { Sealer } from '../../src/cluster/bus/sealing/frame-seal.ts';
import { KeyRing } from '../../src/cluster/bus/sealing/key-ring.ts';
import { FORGERIES, type Targets } from '../cluster/bus/forged-messages.ts';
import { Cluster, type ClusterNode, NODE_START_MS } from '../cluster/rig/cluster.ts';
import { Talker } from '../cluster/rig/talker.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { withoutNode } from '../fakes/metrics-text.ts';

const REPLAYS_MAX = 2_000;
/** Signs of life, and questions for them: they carry nothing, and nothing follows from them. */
const GREETING = /\.n\.\w+\.[cp]\./;

const metricsOf = async ({ url }: ClusterNode) => withoutNode(await (await fetch(`${url}/metrics`)).text());
const refusedBy = async (node: ClusterNode, reason: string) =>
  Number(
    new RegExp(`^voxgate_bus_refused_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(await metricsOf(node))?.[1] ?? 0,
  );

it(
  'keeps all content and every session safe from a NATS client without the secret',
  async () => {
    const cluster = await Cluster.start({ front: { roles: 'edge,accounts' }, back: { roles: 'upstream' } });
    const [front, back] = [cluster.node('front'), cluster.node('back')];
    const hostile = await connect({ servers: cluster.nats.url });
    const recorded: { subject: string; reply: string; data: Buffer }[] = [];
    hostile.subscribe('voxgate.v1.>', {
      callback: (_, { subject, reply = '', data }) => void recorded.push({ subject, reply, data: Buffer.from(data) }),
    });
    await hostile.flush();
    const talker = await Talker.begin({ url: front.url, key: cluster.key, seconds: 6, turnSeconds: 1 });
    const { sessionId, organisationId, keyId } = (await front.logged('session opened')) as unknown as Targets;
    const leg = await front.logged('leg opened');
    const [edge, upstream] = [front, back].map(
      ({ log }) => `${log.find(({ msg }) => msg === 'listening')?.incarnation}`,
    );
    const targets = { edge, upstream, sessionId, organisationId, keyId } as Targets;
    expect(leg.legNode).toBe(upstream);
    await talker.said(2);
    // Whoever reads the metrics has JetStream asked for what waits: its own answers are in clear, and say how its streams are.
    await metricsOf(front);

    // It has heard the whole talk up to here.
    const heard = Buffer.concat(recorded.filter(({ subject }) => !subject.includes('.usage.')).map(({ data }) => data));
    const audio = numberedAudio(0, 32_000);
    const pieces = Array.from({ length: 50 }, (_, index) => Buffer.from(audio.subarray(index * 640, index * 640 + 64)));
    expect(pieces.filter((piece) => heard.includes(piece))).toEqual([]);
    const text = heard.toString('latin1').replaceAll('"type":"io.nats.jetstream.api.v1.', '');
    expect(text.match(/transcript|leg\.|"type"|loopback/g)).toBeNull();

    const before = recorded.length;
    const sealer = new Sealer(
      new KeyRing({ secret: Buffer.from('a secret that is not theirs, of some length') }, 'messages between nodes'),
      'forged',
    );
    let forged = 0;
    for (const make of Object.values(FORGERIES)) {
      for (const { subject, body, reply } of make?.(targets) ?? []) {
        for (const from of ['forged/actor', `${upstream}/leg.${sessionId}.1`, `${edge}/${sessionId}`] as const) {
          const [to, answer] = [`voxgate.v1.${subject}`, reply === undefined ? '' : `voxgate.v1.${reply}`];
          const plain = encodeFrame(from as `${string}/${string}`, body as { type: string }) as Uint8Array;
          const clear = Buffer.concat([Buffer.from([1]), plain]);
          for (const bytes of [clear, sealer.seal(to, answer, plain)]) {
            hostile.publish(to, bytes, answer === '' ? {} : { reply: answer });
            forged++;
          }
        }
      }
    }
    const replays = recorded
      .slice(0, Math.min(before, REPLAYS_MAX))
      .filter(({ subject }) => !subject.includes('.usage.'));
    for (const { subject, reply, data } of replays) hostile.publish(subject, data, reply === '' ? {} : { reply });
    await hostile.flush();

    const ended = await talker.finish();
    expect(ended).toMatchObject({ reason: 'client_closed' });
    expect(talker.events.filter(({ type }) => type === 'error' || type === 'failover')).toEqual([]);
    // Not revoked, not suspended, not refused, and no node too many or too few.
    await (await Talker.begin({ url: front.url, key: cluster.key, seconds: 1, turnSeconds: 1 })).finish();
    const metrics = await metricsOf(front);
    expect(metrics).toMatch(/^voxgate_nodes 2$/m);
    expect(metrics).toMatch(/^voxgate_breakers_open 0$/m);

    const refused = await Promise.all(
      [front, back].flatMap((node) => ['forged', 'version', 'replayed'].map((reason) => refusedBy(node, reason))),
    );
    const [forgedFront = 0, versionFront = 0, replayedFront = 0, , , replayedBack = 0] = refused;
    expect(forgedFront).toBeGreaterThan(10);
    expect(versionFront).toBeGreaterThan(10);
    expect(Math.min(replayedFront, replayedBack)).toBeGreaterThan(10);
    for (const node of [front, back]) {
      const told = node.log.filter(({ msg, reason }) => msg === 'bus fault' && /not believed/.test(String(reason)));
      expect(told.length).toBeLessThanOrEqual(2);
    }
    // Nothing came to where the forgeries wanted their answers, beyond what was replayed there.
    const toForged = recorded.filter(({ subject }) => subject.includes('.n.forged.') && !GREETING.test(subject));
    expect(toForged).toEqual([]);
    console.log(
      `${forged} forged and ${replays.length} replayed beside a session of 6 s: refused ${refused.join(', ')}`,
    );
    await hostile.close();
  },
  4 * NODE_START_MS,
);
