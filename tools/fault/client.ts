/** The client side of the control socket, for requests about faults. */
import { createConnection, type Socket } from 'node:net';
import { RunError, UsageError } from '../errors.ts';

const ANSWER_MS = 30_000;
/** An answer with the most faults there can be is smaller. */
const ANSWER_LETTERS_MAX = 32 * 1024 * 1024;

type Fields = Readonly<Record<string, unknown>>;

/** Asks one thing after another. */
export interface ControlClient {
  /**
   * @returns the `result` of the answer
   * @throws UsageError with the server's own sentence, RunError when no answer comes
   */
  ask(request: object): Promise<Fields>;
}

/**
 * Connects to the control socket of a served drive for as long as `use` takes.
 * @throws RunError when nobody listens
 */
export async function withControl<Result>(
  path: string,
  use: (client: ControlClient) => Promise<Result>,
): Promise<Result> {
  const socket = createConnection({ path });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', (error: NodeJS.ErrnoException) => reject(connectError(path, error)));
  });
  try {
    let nextId = 1;
    return await use({ ask: (request) => ask(socket, path, nextId++, request) });
  } finally {
    socket.destroy();
  }
}

async function ask(socket: Socket, path: string, id: number, request: object): Promise<Fields> {
  const answering = nextLine(socket, path);
  socket.write(`${JSON.stringify({ id, ...request })}\n`);
  const answer = parsed(await answering);
  if (answer === null || answer.id !== id) {
    throw new RunError(`${path} does not speak the protocol of bf3 serve`);
  }
  if (typeof answer.error === 'string') throw new UsageError(answer.error);
  const result = fieldsOf(answer.result);
  if (result === null) throw new RunError(`${path} does not speak the protocol of bf3 serve`);
  return result;
}

/** The next line; the server sends nothing that was not asked for. */
function nextLine(socket: Socket, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose);
      settle();
    };
    const fail = (problem: string): void => end(() => reject(new RunError(`${path}: ${problem}`)));
    const onClose = (): void => fail('the server hung up');
    const onData = (piece: string): void => {
      text += piece;
      if (piece.includes('\n')) end(() => resolve(text.slice(0, text.indexOf('\n'))));
      else if (text.length > ANSWER_LETTERS_MAX) fail('the answer has no end');
    };
    const timer = setTimeout(() => fail(`no answer within ${ANSWER_MS / 1000} s`), ANSWER_MS);
    if (socket.destroyed) onClose();
    // A broken connection is followed by 'close'.
    socket.on('error', () => {});
    socket.setEncoding('utf8').on('data', onData).on('close', onClose);
  });
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
