// Package ledger accounts for every job of a load run: which were pushed, delivered and settled, and therefore which
// are lost and which were delivered twice. See [Ledger] for what these words mean. It takes three bits a job, and every
// count is exact. It stands apart from the law of conversations because its memory is bounded: some bits a job,
// whatever was said.
package ledger
