// How long to wait before a server that ended by itself is started again.

export interface BackoffOptions {
  /** Milliseconds before the first restart; doubled for each further one. */
  readonly first: number;
  readonly longest: number;
  /** So many ends within the window, and it is not started again. */
  readonly attempts: number;
  readonly window: number;
}

export const defaultBackoff: BackoffOptions = { first: 200, longest: 15_000, attempts: 5, window: 180_000 };

/** Remembers when a server ended and says what to do. */
export class Backoff {
  private ends: number[] = [];

  constructor(private readonly options: BackoffOptions = defaultBackoff) {}

  /** Milliseconds to wait after an end at that time, or undefined to give up. */
  ended(now: number): number | undefined {
    const { first, longest, attempts, window } = this.options;
    this.ends = this.ends.filter((at) => now - at < window);
    this.ends.push(now);
    if (this.ends.length >= attempts) return undefined;
    return Math.min(first * 2 ** (this.ends.length - 1), longest);
  }

  /** Forgets what was: the user asked for a new start. */
  reset(): void {
    this.ends = [];
  }
}
