// OpenAI's reports of audio and of costs, which an admin key reads: https://platform.openai.com/docs/api-reference/usage
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../kit/json.ts';
import {
  dayAfter,
  dayMs,
  daysBetween,
  microUsdOfReport,
  REPORT_PAGES_MAX,
  type ReportedUsage,
  secondsOfReport,
  shown,
  UsageReportError,
  type UsageReports,
} from '../kit/usage-report.ts';
import { api } from './models.ts';

const COSTS = 'organization.costs.result';
const AUDIO = 'organization.usage.audio_transcriptions.result';

function read(report: JsonObject): ReportedUsage[] | undefined {
  const isPage = report.object === 'page' && Array.isArray(report.data);
  if (!isPage) return undefined;
  return listIn(report.data).flatMap((each) => {
    const bucket = objectIn(each);
    const days = daysBetween(msIn(bucket.start_time), msIn(bucket.end_time));
    return listIn(bucket.results).flatMap((result) => rowOf(objectIn(result), days) ?? []);
  });
}

/** Usage of models that do not transcribe is left out. */
function rowOf(result: JsonObject, days: Pick<ReportedUsage, 'from' | 'to'>): ReportedUsage | undefined {
  if (result.object === COSTS) {
    const { value, currency } = objectIn(result.amount);
    // `whisper-1`, or `gpt-4o-transcribe, audio input`.
    const model = textIn(result.line_item)?.split(',')[0]?.trim() ?? null;
    return { ...days, model, microUsd: microUsdOfReport(value, currency) };
  }
  if (result.object !== AUDIO) return undefined;
  const requests = numberIn(result.num_model_requests);
  return {
    ...days,
    model: textIn(result.model) ?? null,
    seconds: secondsOfReport(result.seconds),
    ...(requests === undefined ? {} : { requests }),
  };
}

function msIn(value: unknown): number {
  const seconds = numberIn(value);
  if (seconds !== undefined && seconds >= 0 && seconds < 10 ** 11) return seconds * 1000;
  throw new UsageReportError(`The report has the time ${shown(value)}; it must be in seconds since 1970.`);
}

export const usageReports: UsageReports = {
  read,
  async ask(access, from, to, get) {
    const headers = api.headers(access);
    const rows: ReportedUsage[] = [];
    const times = { start_time: dayMs(from) / 1000, end_time: dayMs(dayAfter(to)) / 1000, bucket_width: '1d' };
    for (const [path, group] of [
      ['/organization/usage/audio_transcriptions', 'model'],
      ['/organization/costs', 'line_item'],
    ] as const) {
      let page: string | undefined;
      for (let count = 0; ; count++) {
        if (count >= REPORT_PAGES_MAX) throw new UsageReportError('OpenAI answered with pages without end.');
        const query = { ...times, group_by: group, limit: 31, ...(page === undefined ? {} : { page }) };
        const report = await get(api.http(access, path, query), headers);
        const found = read(report);
        if (found === undefined) throw new UsageReportError(`OpenAI answered ${shown(report)}, which is no report.`);
        rows.push(...found);
        page = report.has_more === true ? textIn(report.next_page) : undefined;
        if (page === undefined) break;
      }
    }
    return rows;
  },
  source:
    'the JSON of GET /v1/organization/usage/audio_transcriptions?group_by=model and GET /v1/organization/costs?group_by=line_item; --api needs an admin key (--key-file)',
};
