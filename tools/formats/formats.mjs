// Reads reports of fwpcheck and fwpbench with readers that others wrote, and compares what they find with the JSON report
// of the same run. Usage: node formats.mjs FOLDER-OF-THE-COMMANDS
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'junit2json';
import MarkdownIt from 'markdown-it';

const bin = resolve(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), 'fwp-formats-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

// run runs a command with a report in every format, and returns its exit code and the JSON report.
function run(name, ...args) {
  const file = (format) => join(folder, `${name}.${format}`);
  const outputs = ['json', 'junit', 'markdown', 'sarif', 'html'].flatMap((f) => ['-o', `${f}=${file(f)}`]);
  const env = { ...process.env, GITHUB_ACTIONS: '' };
  const done = spawnSync(join(bin, args[0]), [...args.slice(1), ...outputs], { env, encoding: 'utf8' });
  assert.equal(done.error, undefined);
  const text = (format) => readFileSync(file(format), 'utf8');
  return { name, code: done.status, stderr: done.stderr, file, text, json: JSON.parse(text('json')) };
}

async function junit(r) {
  const read = await parse(r.text('junit'));
  const suite = read.testsuite[0];
  const cases = suite.testcase;
  assert.equal(suite.tests, cases.length);
  assert.equal(suite.failures, cases.filter((c) => c.failure).length);
  assert.equal(suite.errors, cases.filter((c) => c.error).length);
  assert.equal(suite.skipped, cases.filter((c) => c.skipped).length);
  assert.equal(new Set(cases.map((c) => c.name)).size, cases.length, 'names are unique');
  for (const c of cases.filter((c) => c.failure)) assert.ok(c.failure[0].inner.length > 20, `${c.name} has evidence`);
  assert.equal(suite.failures + suite.errors > 0, r.code !== 0);
  return suite;
}

// No reader of SARIF that npm has runs on Node alone, so its shape is checked here.
function sarif(r, suite) {
  const log = JSON.parse(r.text('sarif'));
  let located = 0;
  assert.equal(log.version, '2.1.0');
  const [{ tool, results, invocations }] = log.runs;
  assert.equal(invocations[0].exitCode, r.code);
  for (const result of results) {
    assert.equal(tool.driver.rules[result.ruleIndex].id, result.ruleId);
    assert.ok(result.message.text);
    assert.equal(result.level === 'none', result.kind === 'open');
    const [{ physicalLocation: at, logicalLocations: named }] = result.locations;
    assert.ok(at || named[0].fullyQualifiedName, `${result.message.text} has a place`);
    if (!at) continue;
    const lines = readFileSync(new URL(at.artifactLocation.uri, pathToFileURL(process.cwd() + sep)), 'utf8').split('\n');
    const [line, { startColumn, endColumn }] = [lines[at.region.startLine - 1], at.region];
    assert.ok(line, `${at.artifactLocation.uri} has line ${at.region.startLine}`);
    if (startColumn) assert.ok(startColumn < endColumn && endColumn <= [...line].length + 1, `columns of ${line}`);
    located++;
  }
  if (r.name === 'finding') assert.ok(located > 0, 'the line of a script');
  assert.equal(results.filter((x) => x.level === 'error').length, suite.failures);
  assert.equal(results.filter((x) => x.kind === 'open').length, suite.errors);
}

function markdown(r) {
  const html = new MarkdownIt({ html: false, linkify: true }).render(r.text('markdown').replaceAll('<!-- -->', ''));
  assert.ok(html.includes('<table>'));
  if (r.json.outcome) assert.ok(html.includes(r.json.outcome.split(':')[0]));
}

for (const [code, ...args] of [
  [[0], 'well', 'fwpcheck', 'run', '--check', 'hello/*', '--quick'],
  [[1], 'finding', 'fwpcheck', 'run', '--check', 'workunit/*', '--quick', '--bug', 'job-reserve-default'],
  [[0, 1, 3], 'load', 'fwpbench', 'run', '--jobs', '300', '--threshold', 'lost==0'],
  [[4], 'unreachable', 'fwpcheck', 'run', '--url', 'tcp://127.0.0.1:1'],
]) {
  const r = run(...args);
  assert.ok(code.includes(r.code), `${r.name}: exit code ${r.code}\n${r.stderr}`);
  const suite = await junit(r);
  if (r.code !== 4) {
    markdown(r);
    sarif(r, suite);
  }
  console.log(`${r.name}: exit code ${r.code}, ${suite.tests} cases, ${suite.failures} failures, ${suite.errors} errors`);
}
