/**
 * The client side of the control socket of `bf3 serve`: one JSON object a line in each direction.
 */
import { createConnection, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { RunError, UsageError } from '../errors.ts';
import type { DumpCell, DumpOptions, DumpRow } from './dump-table.ts';
import { DUMP_TABLES } from './tables.ts';

/** Rows asked for at a time; the drive may run on between two requests. */
const PAGE_ROWS = 10_000;
const ANSWER_MS = 30_000;

export interface AttachedTable {
  readonly columns: string[];
  readonly rows: DumpRow[];
}

/**
 * Asks a served drive for a table.
 * @param path of the Unix socket
 * @param pageRows rows asked for at a time
 * @throws RunError when nobody listens or answers, UsageError with the server's own sentence
 */
export async function attachedTable(
  path: string,
  table: string,
  options: DumpOptions = {},
  pageRows = PAGE_ROWS,
): Promise<AttachedTable> {
  const client = await ControlClient.connect(path);
  try {
    return await pagesOf(client, table, options, pageRows);
  } finally {
    client.close();
  }
}

/** A big table comes in pages: the next one begins behind the key, or the row, of the last. */
async function pagesOf(
  client: ControlClient,
  table: string,
  options: DumpOptions,
  pageRows: number,
): Promise<AttachedTable> {
  const isKeyed = DUMP_TABLES.find(({ name }) => name === table)?.keyed === true;
  const rows: DumpRow[] = [];
  let left = options.count ?? Number.POSITIVE_INFINITY;
  let from = options.from ?? 0;
  for (;;) {
    const count = Math.min(left, pageRows);
    const answer = await client.ask({ cmd: 'dump', table, ...options, from, count });
    const page = tableOf(answer, client.path);
    for (const row of page.rows) rows.push(row);
    left -= page.rows.length;
    if (left <= 0 || page.rows.length < count) return { columns: page.columns, rows };
    from = isKeyed ? Number(page.rows.at(-1)![0]) + 1 : from + page.rows.length;
  }
}

/** Who waits for the next line. */
interface Waiting {
  resolve(line: string): void;
  reject(error: RunError): void;
}

class ControlClient {
  readonly path: string;
  readonly #socket: Socket;
  #waiting: Waiting | null = null;
  #nextId = 1;

  private constructor(path: string, socket: Socket) {
    this.path = path;
    this.#socket = socket;
    createInterface({ input: socket }).on('line', (line) => this.#take()?.resolve(line));
    // A broken connection is followed by 'close'.
    socket.on('error', () => {});
    socket.on('close', () => this.#take()?.reject(new RunError(`${path}: the server hung up`)));
  }

  static async connect(path: string): Promise<ControlClient> {
    const socket = createConnection({ path });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', (error: NodeJS.ErrnoException) => reject(connectError(path, error)));
    });
    return new ControlClient(path, socket);
  }

  /** Sends a request; gives the `result` of its answer. */
  async ask(request: object): Promise<unknown> {
    const id = this.#nextId++;
    this.#socket.write(`${JSON.stringify({ id, ...request })}\n`);
    const line = await this.#nextLine();
    let answer: unknown;
    try {
      answer = JSON.parse(line);
    } catch {
      throw new RunError(
        `${this.path} does not speak the protocol of bf3 serve: no JSON came back`,
      );
    }
    if (!isRecord(answer) || answer.id !== id) {
      throw new RunError(`${this.path} does not speak the protocol of bf3 serve: another id came`);
    }
    if (typeof answer.error === 'string') throw new UsageError(answer.error);
    return answer.result;
  }

  close(): void {
    this.#socket.destroy();
  }

  #nextLine(): Promise<string> {
    if (this.#socket.destroyed) throw new RunError(`${this.path}: the server hung up`);
    return new Promise((resolve, reject) => {
      const late = new RunError(`${this.path}: no answer within ${ANSWER_MS / 1000} s`);
      const timer = setTimeout(() => this.#take()?.reject(late), ANSWER_MS);
      this.#waiting = {
        resolve: (line) => {
          clearTimeout(timer);
          resolve(line);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
    });
  }

  /** Who waits, who then does not any more. */
  #take(): Waiting | null {
    const waiting = this.#waiting;
    this.#waiting = null;
    return waiting;
  }
}

function tableOf(answer: unknown, path: string): AttachedTable {
  const { columns, rows } = isRecord(answer) ? answer : {};
  const isTable =
    Array.isArray(columns) &&
    columns.every((name) => typeof name === 'string') &&
    Array.isArray(rows) &&
    rows.every((row) => Array.isArray(row) && row.length === columns.length && row.every(isCell));
  if (isTable) return { columns, rows };
  throw new RunError(`${path} does not speak the protocol of bf3 serve: no table came back`);
}

function isCell(value: unknown): value is DumpCell {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function connectError(path: string, error: NodeJS.ErrnoException): RunError {
  switch (error.code) {
    case 'ENOENT':
      return new RunError(
        `cannot attach to ${path}: no such socket; start bf3 serve with --control`,
      );
    case 'ECONNREFUSED':
      return new RunError(`cannot attach to ${path}: no server listens there`);
    case 'EACCES':
      return new RunError(`cannot attach to ${path}: permission denied`);
    default:
      return new RunError(`cannot attach to ${path}: ${error.message}`, { cause: error });
  }
}
