import type { Replies } from './replies.ts';
import * as wire from './wire.ts';

/** The one export of a server. */
export interface NbdExport {
  /** Clients may also ask for the default export, "". */
  readonly name: string;
  readonly description: string;
  readonly sizeBytes: number;
  /** Transmission flags without SEND_DF, which depends on the negotiation. */
  readonly flags: number;
}

/** What the connection does after an option. */
export enum Verdict {
  /** Another option follows. */
  Negotiate,
  /** Requests follow. */
  Transmit,
  /** The last reply leaves, then the connection ends. */
  Close,
}

/** Answer to a meta-context option that was understood. */
interface MetaQuery {
  readonly name: string;
  readonly queries: readonly string[];
}

const utf8 = new TextDecoder();

/**
 * Negotiation with one client (fixed newstyle). It knows no socket: options go in, replies come
 * out.
 */
export class Handshake {
  /** The client asked for structured replies. */
  structured = false;
  /** The client chose base:allocation, so BLOCK_STATUS is allowed. */
  allocation = false;
  private fixed = false;
  private noZeroes = false;
  private readonly export_: NbdExport;
  private readonly replies: Replies;

  constructor(export_: NbdExport, replies: Replies) {
    this.export_ = export_;
    this.replies = replies;
  }

  /** The server speaks first. */
  greet(): void {
    const greeting = Buffer.alloc(18);
    writeMagic(greeting, 0, wire.GREETING_MAGIC);
    writeMagic(greeting, 8, wire.OPTION_MAGIC);
    greeting.writeUInt16BE(wire.FLAG_FIXED_NEWSTYLE | wire.FLAG_NO_ZEROES, 16);
    this.replies.raw(greeting);
  }

  /**
   * The client's answer to the greeting; unknown bits end the connection, as the protocol demands.
   */
  clientFlags(flags: number): Verdict {
    if ((flags & ~(wire.FLAG_FIXED_NEWSTYLE | wire.FLAG_NO_ZEROES)) !== 0) return Verdict.Close;
    this.fixed = (flags & wire.FLAG_FIXED_NEWSTYLE) !== 0;
    this.noZeroes = (flags & wire.FLAG_NO_ZEROES) !== 0;
    return Verdict.Negotiate;
  }

  /** One option with its whole body. */
  option(code: number, body: Buffer): Verdict {
    if (code === wire.Option.ExportName) return this.exportName(body);
    // Without the fixed variant a client would not understand replies to options.
    if (!this.fixed) return Verdict.Close;
    switch (code) {
      case wire.Option.Abort:
        this.replies.option(code, wire.OptionReply.Ack);
        return Verdict.Close;
      case wire.Option.List:
        return this.list(body);
      case wire.Option.Info:
      case wire.Option.Go:
        return this.info(code, body);
      case wire.Option.StructuredReply:
        if (body.length > 0) return this.refuse(code, 'STRUCTURED_REPLY takes no data');
        this.structured = true;
        this.replies.option(code, wire.OptionReply.Ack);
        return Verdict.Negotiate;
      case wire.Option.ListMetaContext:
      case wire.Option.SetMetaContext:
        return this.metaContext(code, body);
      default:
        this.replies.option(code, wire.OptionReply.ErrorUnsupported);
        return Verdict.Negotiate;
    }
  }

  /** An option whose body was too long to be kept and has been thrown away. */
  optionTooBig(code: number): Verdict {
    if (!this.fixed || code === wire.Option.ExportName) return Verdict.Close;
    this.replies.option(code, wire.OptionReply.ErrorTooBig);
    return Verdict.Negotiate;
  }

  private get transmissionFlags(): number {
    return this.export_.flags | (this.structured ? wire.TransmissionFlag.SendDf : 0);
  }

  private serves(name: string): boolean {
    return name === '' || name === this.export_.name;
  }

  private refuse(code: number, why: string, type = wire.OptionReply.ErrorInvalid): Verdict {
    this.replies.option(code, type, Buffer.from(why));
    return Verdict.Negotiate;
  }

  /** The old way in: no error reply exists, so an unknown name ends the connection. */
  private exportName(body: Buffer): Verdict {
    if (body.length > wire.MAX_NAME_BYTES || !this.serves(utf8.decode(body))) return Verdict.Close;
    const reply = Buffer.alloc(10 + (this.noZeroes ? 0 : wire.EXPORT_NAME_TAIL_BYTES));
    reply.writeBigUInt64BE(BigInt(this.export_.sizeBytes), 0);
    reply.writeUInt16BE(this.transmissionFlags, 8);
    this.replies.raw(reply);
    return Verdict.Transmit;
  }

  private list(body: Buffer): Verdict {
    if (body.length > 0) return this.refuse(wire.Option.List, 'LIST takes no data');
    const name = Buffer.from(this.export_.name);
    const reply = Buffer.alloc(4 + name.length);
    reply.writeUInt32BE(name.length, 0);
    reply.set(name, 4);
    this.replies.option(
      wire.Option.List,
      wire.OptionReply.Server,
      Buffer.concat([reply, Buffer.from(this.export_.description)]),
    );
    this.replies.option(wire.Option.List, wire.OptionReply.Ack);
    return Verdict.Negotiate;
  }

  private info(code: number, body: Buffer): Verdict {
    const nameBytes = body.length >= 6 ? body.readUInt32BE(0) : Number.POSITIVE_INFINITY;
    if (nameBytes > body.length - 6) {
      return this.refuse(code, 'the export name is longer than the option');
    }
    const count = body.readUInt16BE(4 + nameBytes);
    if (6 + nameBytes + 2 * count !== body.length) {
      return this.refuse(code, 'the count of information requests does not fit the option');
    }
    if (!this.serves(utf8.decode(body.subarray(4, 4 + nameBytes)))) {
      return this.refuse(code, 'no export of this name', wire.OptionReply.ErrorUnknown);
    }
    for (let i = 0; i < count; i++) {
      const type = body.readUInt16BE(6 + nameBytes + 2 * i);
      if (type === wire.InfoType.Name) this.sendInfo(code, type, Buffer.from(this.export_.name));
      if (type === wire.InfoType.Description) {
        this.sendInfo(code, type, Buffer.from(this.export_.description));
      }
    }
    const size = Buffer.alloc(10);
    size.writeBigUInt64BE(BigInt(this.export_.sizeBytes), 0);
    size.writeUInt16BE(this.transmissionFlags, 8);
    this.sendInfo(code, wire.InfoType.Export, size);
    // Sent unasked too: a client that does not know the minimum would run into EINVAL.
    const blocks = Buffer.alloc(12);
    blocks.writeUInt32BE(wire.MIN_BLOCK_BYTES, 0);
    blocks.writeUInt32BE(wire.PREFERRED_BLOCK_BYTES, 4);
    blocks.writeUInt32BE(wire.MAX_PAYLOAD_BYTES, 8);
    this.sendInfo(code, wire.InfoType.BlockSize, blocks);
    this.replies.option(code, wire.OptionReply.Ack);
    return code === wire.Option.Go ? Verdict.Transmit : Verdict.Negotiate;
  }

  private sendInfo(code: number, type: wire.InfoType, content: Buffer): void {
    const reply = Buffer.alloc(2 + content.length);
    reply.writeUInt16BE(type, 0);
    reply.set(content, 2);
    this.replies.option(code, wire.OptionReply.Info, reply);
  }

  private metaContext(code: number, body: Buffer): Verdict {
    const set = code === wire.Option.SetMetaContext;
    // A new choice replaces the old one, also when it fails.
    if (set) this.allocation = false;
    if (set && !this.structured) {
      return this.refuse(code, 'SET_META_CONTEXT needs structured replies');
    }
    const query = parseMetaQuery(body);
    if (query === null) return this.refuse(code, 'a length does not fit the option');
    if (!this.serves(query.name)) {
      return this.refuse(code, 'no export of this name', wire.OptionReply.ErrorUnknown);
    }
    const all = !set && (query.queries.length === 0 || query.queries.includes('base:'));
    if (all || query.queries.includes(wire.ALLOCATION_CONTEXT)) {
      if (set) this.allocation = true;
      const context = Buffer.from(`\0\0\0\0${wire.ALLOCATION_CONTEXT}`);
      context.writeUInt32BE(set ? wire.ALLOCATION_CONTEXT_ID : 0, 0);
      this.replies.option(code, wire.OptionReply.MetaContext, context);
    }
    this.replies.option(code, wire.OptionReply.Ack);
    return Verdict.Negotiate;
  }
}

/** Null when a length points past the body or bytes are left over. */
function parseMetaQuery(body: Buffer): MetaQuery | null {
  let at = 0;
  const takeString = (): string | null => {
    if (body.length - at < 4) return null;
    const lengthBytes = body.readUInt32BE(at);
    if (lengthBytes > body.length - at - 4) return null;
    at += 4 + lengthBytes;
    return utf8.decode(body.subarray(at - lengthBytes, at));
  };
  const name = takeString();
  if (name === null || body.length - at < 4) return null;
  const count = body.readUInt32BE(at);
  at += 4;
  const queries: string[] = [];
  // Each query takes at least 4 bytes, so a wild count ends at the body's end.
  for (let i = 0; i < count; i++) {
    const query = takeString();
    if (query === null) return null;
    queries.push(query);
  }
  return at === body.length ? { name, queries } : null;
}

function writeMagic(out: Buffer, at: number, magic: readonly [number, number]): void {
  out.writeUInt32BE(magic[0], at);
  out.writeUInt32BE(magic[1], at + 4);
}
