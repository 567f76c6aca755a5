type Job = Record<string, unknown>;

/** Jobs have the fields that matter; times in them may be Dates. */
export interface Expectation {
  pushed?: Job[];
  fetched?: Job[];
  acknowledged?: Job[];
  failed?: Job[];
  /** Only commands about jobs of this queue count. */
  queue?: string;
  /** In the lists that are given: true, or for how long after all is as expected, "500ms". */
  nothing_else?: boolean | string;
  no_mistakes?: boolean;
  /** How far apart the times of a job may be: "2s". */
  tolerance?: string;
  /** For how long to wait until all is as expected: "5s". */
  timeout?: string;
}

export interface Stub {
  verb: string;
  worker?: string;
  jid?: string;
  jobtype?: string;
  times?: number;
  reply?: string;
  delay?: string;
  close?: boolean;
}

export interface StoredJob {
  place: 'queue' | 'scheduled' | 'retries' | 'working' | 'dead';
  queue: string;
  due?: string;
  job: Job;
}

export interface Entry {
  number: number;
  at: string;
  connection: number;
  worker?: string;
  verb: string;
  command: string;
  reply: string;
  refused?: string;
  mistake?: string;
}

export declare class Double {
  readonly url: string;
  readonly control: string;
  ask(method: string, path: string, body?: unknown, query?: Record<string, unknown>): Promise<any>;
  jobs(query?: { queue?: string }): Promise<StoredJob[]>;
  push(...jobs: Job[]): Promise<string[]>;
  journal(query?: { worker?: string; verb?: string; queue?: string; after?: number }): Promise<Entry[]>;
  verify(expected: Expectation): Promise<void>;
  stub(stub: Stub): Promise<void>;
  stubs(): Promise<(Stub & { used?: number })[]>;
  removeStubs(): Promise<void>;
  bugs(): Promise<string[]>;
  setBugs(...bugs: string[]): Promise<void>;
  disconnect(): Promise<void>;
  clock(): Promise<Date>;
  advance(by: string): Promise<void>;
  setClock(to: Date | string): Promise<void>;
  quiet(worker?: string): Promise<void>;
  terminate(worker?: string): Promise<void>;
  reset(only?: { queue: string }): Promise<void>;
  close(): Promise<string>;
}

export declare function serve(options?: { extension?: string; args?: string[]; program?: string; env?: boolean }): Promise<Double>;
