// How the gateway did over the last hour or day, over all nodes: what the console draws for whoever runs it. The figures are those of
// `/metrics`: counts, rates and percentiles, nothing of any one session.

/** Undefined where nothing was counted: a rate of no attempts, a percentile of no turns. */
export interface HistoryFigures {
  /** Connections and requests to models. */
  attempts: number;
  /** Live connections and files under way, or of a node its live sessions: the most in the step. */
  under_way: number;
  /** Of the attempts, from 0 to 1. */
  error_rate?: number;
  failover_rate?: number;
  /** Seconds: median and 95th percentile. */
  first_word?: [p50: number, p95: number];
  final?: [p50: number, p95: number];
  file?: [p50: number, p95: number];
}

export interface HistorySeries {
  /** `all`, or a model or node. */
  name: string;
  /** Over the whole window. */
  total: HistoryFigures;
  /** One for each time; null where no node ran. */
  points: (HistoryFigures | null)[];
}

export interface HistoryView {
  at: string;
  window: 'hour' | 'day';
  by: 'model' | 'node';
  /** Ids of nodes that have answered, and of those that have not. */
  nodes: string[];
  silent: string[];
  /** Where each step begins, in seconds since 1970. */
  times: number[];
  /** `all` first, then those with the most attempts. */
  series: HistorySeries[];
}
