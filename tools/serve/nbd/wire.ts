/**
 * Numbers of the Network Block Device protocol, fixed newstyle negotiation.
 * Source: NetworkBlockDevice project, doc/proto.md. All fields on the wire are big endian.
 */

/** "NBDMAGIC", first word of the greeting (two 32-bit halves). */
export const GREETING_MAGIC = [0x4e42444d, 0x41474943] as const;
/** "IHAVEOPT", second word of the greeting and first word of every option. */
export const OPTION_MAGIC = [0x49484156, 0x454f5054] as const;
/** First word of every reply to an option. */
export const OPTION_REPLY_MAGIC = [0x0003e889, 0x045565a9] as const;
export const REQUEST_MAGIC = 0x25609513;
export const SIMPLE_REPLY_MAGIC = 0x67446698;
export const CHUNK_MAGIC = 0x668e33ef;

export const CLIENT_FLAGS_BYTES = 4;
export const OPTION_HEAD_BYTES = 16;
export const OPTION_REPLY_HEAD_BYTES = 20;
export const REQUEST_HEAD_BYTES = 28;
export const SIMPLE_REPLY_BYTES = 16;
export const CHUNK_HEAD_BYTES = 20;
/** Reserved tail of the answer to EXPORT_NAME, left out when both sides said NO_ZEROES. */
export const EXPORT_NAME_TAIL_BYTES = 124;

/** Handshake flags (server) and client flags use the same two bits. */
export const FLAG_FIXED_NEWSTYLE = 1;
export const FLAG_NO_ZEROES = 2;

/**
 * Block sizes that the server advertises, bytes: the drive's sector, its logical page, the payload
 * limit.
 */
export const MIN_BLOCK_BYTES = 512;
export const PREFERRED_BLOCK_BYTES = 4096;
export const MAX_PAYLOAD_BYTES = 32 * 1024 * 1024;

/** Longest name that the protocol allows, bytes of UTF-8. */
export const MAX_NAME_BYTES = 4096;

export enum Option {
  ExportName = 1,
  Abort = 2,
  List = 3,
  StartTls = 5,
  Info = 6,
  Go = 7,
  StructuredReply = 8,
  ListMetaContext = 9,
  SetMetaContext = 10,
}

export enum OptionReply {
  Ack = 1,
  Server = 2,
  Info = 3,
  MetaContext = 4,
  ErrorUnsupported = 0x80000001,
  ErrorInvalid = 0x80000003,
  ErrorUnknown = 0x80000006,
  ErrorTooBig = 0x80000009,
}

export enum InfoType {
  Export = 0,
  Name = 1,
  Description = 2,
  BlockSize = 3,
}

/** Transmission flags, bit values. */
export enum TransmissionFlag {
  HasFlags = 1 << 0,
  ReadOnly = 1 << 1,
  SendFlush = 1 << 2,
  SendFua = 1 << 3,
  SendTrim = 1 << 5,
  SendWriteZeroes = 1 << 6,
  SendDf = 1 << 7,
  CanMultiConn = 1 << 8,
  SendFastZero = 1 << 11,
}

export enum Command {
  Read = 0,
  Write = 1,
  Disconnect = 2,
  Flush = 3,
  Trim = 4,
  Cache = 5,
  WriteZeroes = 6,
  BlockStatus = 7,
}

/** Command flags, bit values. */
export enum CommandFlag {
  Fua = 1 << 0,
  NoHole = 1 << 1,
  DontFragment = 1 << 2,
  RequestOne = 1 << 3,
  FastZero = 1 << 4,
}

/**
 * Types of a structured reply chunk; every reply of this server is one chunk, flagged as the last.
 */
export enum ChunkType {
  None = 0,
  OffsetData = 1,
  BlockStatus = 5,
  Error = 0x8001,
}

export const CHUNK_FLAG_DONE = 1;

/** The one metadata context that the server offers, and the id it goes by in replies. */
export const ALLOCATION_CONTEXT = 'base:allocation';
export const ALLOCATION_CONTEXT_ID = 1;
