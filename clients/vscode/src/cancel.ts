// Signals of plain code and cancellation tokens of the editor, one made from the other.

import * as vscode from 'vscode';

/** Runs with a cancellation token that follows a signal. */
export async function withToken<T>(signal: AbortSignal, run: (token: vscode.CancellationToken) => Promise<T>): Promise<T> {
  const source = new vscode.CancellationTokenSource();
  const abort = (): void => source.cancel();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await run(source.token);
  } finally {
    signal.removeEventListener('abort', abort);
    source.dispose();
  }
}
