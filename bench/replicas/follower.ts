// A replica that follows, in a process of its own: `follower.ts SETTINGS`. Ends when its standard input does.
import { openReplica, type ReplicaSettings } from './replica.ts';

const replica = await openReplica(JSON.parse(process.argv[2] ?? '{}') as ReplicaSettings);
console.log('follows');
process.stdin.resume().on('end', async () => {
  await replica.close();
});
