type Job = Record<string, unknown>;

export interface Expectation {
  pushed?: Job[];
  fetched?: Job[];
  acknowledged?: Job[];
  failed?: Job[];
  nothing_else?: boolean;
  no_mistakes?: boolean;
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

export declare class Double {
  readonly url: string;
  readonly control: string;
  ask(method: string, path: string, body?: unknown): Promise<any>;
  jobs(): Promise<{ place: string; queue: string; due?: string; job: Job }[]>;
  push(...jobs: Job[]): Promise<string[]>;
  journal(): Promise<Job[]>;
  verify(expected: Expectation): Promise<void>;
  stub(stub: Stub): Promise<void>;
  advance(by: string): Promise<void>;
  setClock(to: Date): Promise<void>;
  quiet(worker?: string): Promise<void>;
  terminate(worker?: string): Promise<void>;
  reset(): Promise<void>;
  close(): Promise<string>;
}

export declare function serve(options?: { extension?: string; args?: string[]; program?: string; env?: boolean }): Promise<Double>;
