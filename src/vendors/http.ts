// Requests to providers, and their answers, as codecs write and read them.

/** An HTTP answer that is a refusal: of an upgrade, or of a request. Header names in lower case; at most 4 KiB of the body. */
export interface ProviderRefusal {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
}

/** One HTTP request. The file's bytes are streamed where the body names them. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body:
    | { kind: 'none' }
    | { kind: 'json'; json: unknown }
    | { kind: 'file' }
    /** An object, with the file in base64 for one of its members. */
    | { kind: 'json-file'; json: Readonly<Record<string, unknown>>; fileMember: string }
    | { kind: 'multipart'; fields: readonly (readonly [string, string])[]; fileField: string };
}

/** One that carries no file. */
export type PlainRequest = HttpRequest & {
  body: Exclude<HttpRequest['body'], { kind: 'file' | 'json-file' | 'multipart' }>;
};

/** An answer with a 2xx status. The body is text: JSON for most. */
export interface HttpAnswer {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
}
