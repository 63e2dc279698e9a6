// The files for whoever watches a gateway: the expressions of alert rules and dashboard, and what in them must be there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const fileAt = (path: string): string => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');

export const alertLines = fileAt('deploy/alerts.yml').split('\n');
export const alertExpressions = alertLines.flatMap((line) => /^ {8}expr: (\S.*)$/.exec(line)?.[1] ?? []);

interface Panel {
  title: string;
  targets?: { expr: string }[];
}
const dashboard = JSON.parse(fileAt('deploy/grafana-dashboard.json')) as {
  panels: Panel[];
  templating: { list: { query: string | { query: string } }[] };
};
export const panels = dashboard.panels;
export const dashboardExpressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
/** What its variables ask for: `label_values(metric, label)`. */
export const dashboardVariables = dashboard.templating.list.flatMap(({ query }) =>
  typeof query === 'string' ? [] : [query.query],
);

/** As Prometheus is asked, once Grafana has filled in its variables. */
export const filled = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '5m').replaceAll(/\$(node|model)\b/g, '.*');

/** What a pattern finds in expressions, each once. */
export const namesIn = (expressions: readonly string[], pattern: RegExp): string[] => [
  ...new Set(expressions.flatMap((each) => [...each.matchAll(pattern)].map(([, name]) => name ?? ''))),
];

/** Metrics, as a scrape declares them: a histogram once, not by its parts. */
export const metricsIn = (expressions: readonly string[]): string[] => [
  ...new Set(
    namesIn(expressions, /\b((?:voxgate|process|nodejs)_[a-z0-9_]+)\b/g).map((name) =>
      name.replace(/_seconds_(?:bucket|sum|count)$/, '_seconds'),
    ),
  ),
];

/** Those that a page lists at the beginning of a row. */
export const metricsOfPage = (path: string): string[] =>
  fileAt(path)
    .split('\n')
    .flatMap((line) => /^\| `(voxgate_[a-z0-9_]+)`/.exec(line)?.[1] ?? []);
