// Package npm tests the embedded server with a client that is not part of this project: npm's
// faktory-worker. Its test needs node and "npm ci", and so has the build tag npm;
// "make client-npm" runs it. The client's side is work.mjs.
package npm
