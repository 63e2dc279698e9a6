// A real S3-compatible server: versitygw with its files in a temporary directory, on a loopback port.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { goProgram } from '../../../scripts/install/go-programs.js';
import { freePorts } from '../free-ports.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

const program = goProgram('versitygw');

/** Whether the program is built. A test that needs it is skipped without it, and fails under CI. */
export const versityGatewayIsHere = program.isHere;
if (!versityGatewayIsHere) {
  const reason = 'The S3-compatible server is not built: `node scripts/install/go-programs.js versitygw`';
  if (process.env.CI === 'true') throw new Error(`${reason}. No test is skipped under CI.`);
  console.warn(reason);
}

const READY_MS_MAX = 20_000;

export interface VersityGateway {
  url: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Where the objects of the bucket are files. */
  directory: string;
  stop(): Promise<void>;
}

/** Resolves when it answers. The caller stops it. */
export async function startVersityGateway(): Promise<VersityGateway> {
  const [port] = await freePorts(1);
  const [root, metadata] = [temporaryDirectory(), temporaryDirectory()];
  const access = { accessKeyId: 'AKIATESTTESTTEST', secretAccessKey: 'test/secret+access=key' };
  const [region, bucket] = ['eu-central-1', 'backups'];
  mkdirSync(join(root, bucket));
  const args = ['--port', `127.0.0.1:${port}`, '--region', region, '--quiet', 'posix', '--sidecar', metadata, root];
  const env = {
    ...process.env,
    ROOT_ACCESS_KEY_ID: access.accessKeyId,
    ROOT_SECRET_ACCESS_KEY: access.secretAccessKey,
  };
  const child = spawn(program.path, args, { env, stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await answers(url, child);
  const stop = async () => {
    const ended = once(child, 'exit');
    if (child.kill()) await ended;
  };
  return { url, region, bucket, ...access, directory: join(root, bucket), stop };
}

/** Rejects when it has ended, or does not answer in time. */
async function answers(url: string, child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The S3-compatible server ended with code ${code}.`);
  });
  ended.catch(() => {});
  await Promise.race([vi.waitFor(() => fetch(url), { timeout: READY_MS_MAX }), ended]);
}
