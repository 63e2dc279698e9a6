// Deepgram's reports of usage and of costs:
// https://developers.deepgram.com/reference/manage/usage/get, …/usage/breakdown/get and …/billing/breakdown/get
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../kit/json.ts';
import {
  dayOf,
  type ReportedUsage,
  secondsOfReport,
  shown,
  UsageReportError,
  type UsageReports,
  usdIn,
} from '../kit/usage-report.ts';
import { api } from './api.ts';

const HOUR_SECONDS = 3600;
const PROJECTS_MAX = 100;

/** One answer. The breakdowns name the days of a row in `grouping`, the summary in the row. */
function read(report: JsonObject): ReportedUsage[] | undefined {
  if (report.resolution === undefined || !Array.isArray(report.results)) return undefined;
  return listIn(report.results).map((result): ReportedUsage => {
    const row = objectIn(result);
    const grouping = objectIn(row.grouping);
    const from = dayIn(grouping.start ?? row.start ?? report.start);
    const to = dayIn(grouping.end ?? row.end ?? report.end);
    // The end of a day is that day, or the first moment of the next.
    const days = { from, to: to > from ? lastOf(from, to, report) : from };
    const model = modelIn(grouping);
    if (row.dollars !== undefined) return { ...days, model, microUsd: usdIn(row.dollars) };
    // `hours` is audio; `total_hours` counts each channel, which is what is billed.
    const hours = row.total_hours ?? row.hours;
    const requests = numberIn(row.requests);
    const seconds = secondsOfReport(hours, HOUR_SECONDS);
    return { ...days, model, seconds, ...(requests === undefined ? {} : { requests }) };
  });
}

/** Reports are by day unless they say otherwise: then a row is of its first day. */
function lastOf(from: string, to: string, { resolution }: JsonObject): string {
  const { units, amount } = objectIn(resolution);
  return units === 'day' && amount === 1 ? from : to;
}

function dayIn(value: unknown): string {
  const day = typeof value === 'string' ? dayOf(value) : undefined;
  if (day === undefined) throw new UsageReportError(`The report has the time ${shown(value)}; it must have its zone.`);
  return day;
}

/** `streaming::nova-3` of a cost, `nova-3` of usage. */
function modelIn(grouping: JsonObject): string | null {
  const models = listIn(grouping.models);
  const name =
    textIn(grouping.line_item) ?? textIn(grouping.models) ?? textIn(grouping.model) ?? textIn(models[0]) ?? null;
  return name === null ? null : (name.split('::').at(-1) as string);
}

export const usageReports: UsageReports = {
  read,
  async ask(access, from, to, get) {
    const headers = api.headers(access);
    const { projects } = await get(api.http(access, '/v1/projects'), headers);
    const ids = listIn(projects).flatMap((project) => textIn(objectIn(project).project_id) ?? []);
    if (ids.length === 0) throw new UsageReportError('Deepgram names no project that this key may read.');
    const rows: ReportedUsage[] = [];
    for (const id of ids.slice(0, PROJECTS_MAX)) {
      const path = `/v1/projects/${encodeURIComponent(id)}`;
      for (const kind of ['usage', 'billing']) {
        const grouping = kind === 'usage' ? 'models' : 'line_item';
        const report = await get(
          api.http(access, `${path}/${kind}/breakdown`, { start: from, end: to, grouping }),
          headers,
        );
        const found = read(report);
        if (found === undefined) throw new UsageReportError(`Deepgram answered ${shown(report)}, which is no report.`);
        rows.push(...found);
      }
    }
    return rows;
  },
  source:
    'the JSON of GET /v1/projects/{id}/usage/breakdown?grouping=models; --api needs a key with the scopes usage:read and billing:read',
};
