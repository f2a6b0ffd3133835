/**
 * The client side of the control socket of `bf3 serve`: one JSON object a line in each direction,
 * one request after another.
 */
import { createConnection, type Socket } from 'node:net';
import { RunError, UsageError } from '../errors.ts';

const ANSWER_MS = 30_000;
/** The longest answers are 10,000 rows of a table, and the most faults there can be. */
const ANSWER_LETTERS_MAX = 64 * 1024 * 1024;

export type Fields = Readonly<Record<string, unknown>>;

/** Who waits for the next line. */
interface Waiting {
  resolve(line: string): void;
  reject(error: RunError): void;
}

/**
 * Connects to the control socket of a served drive for as long as `use` takes.
 * @throws RunError when nobody listens
 */
export async function withControl<Result>(
  path: string,
  use: (client: ControlClient) => Promise<Result>,
): Promise<Result> {
  const client = await ControlClient.connect(path);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

export class ControlClient {
  readonly path: string;
  readonly #socket: Socket;
  #waiting: Waiting | null = null;
  #nextId = 1;
  /** Pieces of the line that is arriving, and their length. */
  #pieces: string[] = [];
  #letters = 0;

  private constructor(path: string, socket: Socket) {
    this.path = path;
    this.#socket = socket;
    socket.setEncoding('utf8').on('data', (piece: string) => this.#received(piece));
    // A broken connection is followed by 'close'.
    socket.on('error', () => {});
    socket.on('close', () => this.#fail('the server hung up'));
  }

  /** @throws RunError when nobody listens */
  static async connect(path: string): Promise<ControlClient> {
    const socket = createConnection({ path });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', (error: NodeJS.ErrnoException) => reject(connectError(path, error)));
    });
    return new ControlClient(path, socket);
  }

  /**
   * Sends a request.
   * @returns the `result` of its answer
   * @throws UsageError with the server's own sentence, RunError when no answer comes
   */
  async ask(request: object): Promise<Fields> {
    const id = this.#nextId++;
    const answering = this.#nextLine();
    this.#socket.write(`${JSON.stringify({ id, ...request })}\n`);
    const answer = parsed(await answering);
    if (answer === null) throw this.stranger('no JSON came back');
    if (answer.id !== id) throw this.stranger('another id came');
    if (typeof answer.error === 'string') throw new UsageError(answer.error);
    const result = fieldsOf(answer.result);
    if (result === null) throw this.stranger('no result came back');
    return result;
  }

  /** The failure of a server that answers otherwise than `bf3 serve`. */
  stranger(what: string): RunError {
    return new RunError(`${this.path} does not speak the protocol of bf3 serve: ${what}`);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The server sends nothing that was not asked for, so what is behind a line is not kept. */
  #received(piece: string): void {
    this.#pieces.push(piece);
    this.#letters += piece.length;
    if (!piece.includes('\n')) {
      if (this.#letters > ANSWER_LETTERS_MAX) this.#fail('the answer has no end');
      return;
    }
    const text = this.#pieces.join('');
    this.#forgetLine();
    this.#take()?.resolve(text.slice(0, text.indexOf('\n')));
  }

  #fail(problem: string): void {
    this.#forgetLine();
    this.#take()?.reject(new RunError(`${this.path}: ${problem}`));
  }

  #forgetLine(): void {
    this.#pieces = [];
    this.#letters = 0;
  }

  #nextLine(): Promise<string> {
    if (this.#socket.destroyed) throw new RunError(`${this.path}: the server hung up`);
    return new Promise((resolve, reject) => {
      const late = `no answer within ${ANSWER_MS / 1000} s`;
      const timer = setTimeout(() => this.#fail(late), ANSWER_MS);
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

function parsed(line: string): Fields | null {
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    return null;
  }
}

function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : null;
}

function connectError(path: string, error: NodeJS.ErrnoException): RunError {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'no such socket; start bf3 serve with --control',
    ECONNREFUSED: 'no server listens there',
    EACCES: 'permission denied',
  };
  const reason = reasons[error.code ?? ''] ?? error.message;
  return new RunError(`cannot attach to ${path}: ${reason}`, { cause: error });
}
