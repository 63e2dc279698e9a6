// The codes in the header `Voxgate-Warning`, without the parameters that they are about.
export function warningCodes({ headers }: { headers: Headers }): string | null {
  return headers.get('voxgate-warning')?.replace(/;param=(?:"[^"]*"|[\w.-]+)/g, '') ?? null;
}
