// The test files that failed in the report named first, a line each: what is worth a second run with nothing beside it. None
// where more failed than a busy machine explains.
import { readReport } from './report.ts';

const FILES_MAX = 5;

const [file = ''] = process.argv.slice(2);
const failed = readReport(file).filter((each) => each.failed.length > 0);
if (failed.length <= FILES_MAX) for (const { path } of failed) console.log(path);
