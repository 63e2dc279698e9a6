// The process: runs one command and ends with its exit code.
import { runCommand } from './cli/index.ts';

process.exitCode = await runCommand(process.argv.slice(2));
