// Where a leg connects, as a codec says it.

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

/** Where a WebSocket leads. */
export interface SocketEndpoint {
  kind: 'websocket';
  url: string;
  headers: Record<string, string>;
  protocols?: string[];
  /** Texts of the URL that open what it leads to: they are shown nowhere. */
  secrets?: readonly string[];
}

/**
 * Where a gRPC call with messages both ways leads: `https://host/package.Service/Method`, or http without TLS. Its messages are objects,
 * as proto3 maps them to JSON; bytes that are sent are the audio of a request, and `HALF_CLOSE` ends the requests.
 */
export interface GrpcEndpoint {
  kind: 'grpc';
  url: string;
  /** The call's metadata. */
  headers: Record<string, string>;
  method: GrpcMethod;
  /** Asks whether the connection lives when nothing came for so long; undefined where servers take that amiss. */
  pingMs: number | undefined;
}

/** What a call's messages consist of: the fields that are used of a service's own description. */
export interface GrpcMethod {
  /** By name; a field's type is one of protobuf's or of these, its id the number on the wire. */
  types: Readonly<Record<string, GrpcType>>;
  request: string;
  response: string;
  /** The field of a request that takes audio. */
  audio: string;
}

export type GrpcType =
  | { fields: Readonly<Record<string, { type: string; id: number; rule?: 'repeated'; keyType?: string }>> }
  | { values: Readonly<Record<string, number>> };

/** The frame that says: no more requests, the answers to those before are waited for. */
export const HALF_CLOSE = 'half-close';

/** Where a leg connects. An embedded engine is an in-process server named by `engine`; it gets `query` as it is. */
export type Endpoint =
  | SocketEndpoint
  | GrpcEndpoint
  /**
   * A request, whose answer names the WebSocket (`LiveCodec.socketOf`). Both have to be there within `connectMs`. From its answer on
   * the provider keeps a session: one whose connection was lost, or never came to be, is ended by a last connection that says `leave`.
   */
  | { kind: 'request'; request: PlainRequest }
  | { kind: 'embedded'; engine: string; query: Readonly<Record<string, unknown>> };
