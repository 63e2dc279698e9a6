// What came from elsewhere as JSON, before anything is known of its members.

/** Whether it has members by name. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
