/** What a server has done so far; the owner may read it at any time. */
export interface NbdStats {
  /** Clients connected now. */
  connections: number;
  /** Clients taken since the start. */
  acceptedConnections: number;
  /** Clients turned away because the limit was reached. */
  refusedConnections: number;
  /**
   * Clients cut off because what they sent is not the protocol, or because they did not negotiate
   * in time.
   */
  violations: number;
  /** Requests handed to the backend, indexed by `NbdKind`. */
  readonly requests: number[];
  /** Requests answered with an error, refused ones included. */
  failedRequests: number;
  /** Bytes of reads that succeeded. */
  readBytes: number;
  /** Bytes of writes that succeeded. */
  writtenBytes: number;
  /** Bytes of trims and zeroes that succeeded. */
  trimmedBytes: number;
}

/** All zero. */
export function createStats(): NbdStats {
  return {
    connections: 0,
    acceptedConnections: 0,
    refusedConnections: 0,
    violations: 0,
    requests: [0, 0, 0, 0, 0, 0],
    failedRequests: 0,
    readBytes: 0,
    writtenBytes: 0,
    trimmedBytes: 0,
  };
}
