// Speechmatics' report of usage: https://docs.speechmatics.com/introduction/usage. It adds up all days that were asked for, so it is asked
// for each of them.
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../kit/json.ts';
import {
  dayAfter,
  dayOf,
  type ReportedUsage,
  secondsOfReport,
  shown,
  UsageReportError,
  type UsageReports,
} from '../kit/usage-report.ts';
import { api } from './models.ts';

const HOUR_SECONDS = 3600;

/** `until` is the last day. */
function read({ since, until, details, summary }: JsonObject): ReportedUsage[] | undefined {
  const rows = Array.isArray(details) && details.length > 0 ? details : summary;
  if (typeof since !== 'string' || typeof until !== 'string' || !Array.isArray(rows)) return undefined;
  const [from, to] = [dayOf(since), dayOf(until)];
  if (from === undefined || to === undefined || from > to)
    throw new UsageReportError(`The report is of ${shown(`${since} to ${until}`)}, which are no days.`);
  return listIn(rows).map((each) => {
    const row = objectIn(each);
    const requests = numberIn(row.count);
    return {
      from,
      to,
      model: textIn(row.operating_point) ?? null,
      seconds: secondsOfReport(row.duration_hrs, HOUR_SECONDS),
      ...(requests === undefined ? {} : { requests }),
    };
  });
}

export const usageReports: UsageReports = {
  read,
  async ask(access, from, to, get) {
    const rows: ReportedUsage[] = [];
    for (let day = from; day <= to; day = dayAfter(day)) {
      const report = await get(api.http(access, '/v2/usage', { since: day, until: day }), api.headers(access));
      const found = read(report);
      if (found === undefined)
        throw new UsageReportError(`Speechmatics answered ${shown(report)}, which is no report.`);
      rows.push(...found);
    }
    return rows;
  },
  source: 'the JSON of GET /v2/usage?since=DAY&until=DAY, one file for each day',
};
