import { beforeAll } from 'vitest';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { carrierSuite } from './carriers.suite.ts';

let gateway: LiveGateway;
beforeAll(async () => {
  gateway = await startLiveGateway({ VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8' });
});

carrierSuite(() => gateway);
