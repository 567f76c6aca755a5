// Package measure records how long the commands of a load run took, without loss and without a lock.
//
// Each loop of the engine has a [Recorder] of its own. About once a second the loop takes what was recorded as a [Set]
// (Take) and continues with an empty one, so that no set is read while it is written. Sets are added up, over loops and
// over seconds, bucket by bucket and therefore exactly.
//
// Times are nanoseconds in HdrHistograms of three significant digits from 1 µs to 1 h: a bucket is 512 ns wide up to
// 1 ms, and at most 0.1 % of the value above. Nanoseconds because the standard tools read a log's values as
// nanoseconds; 1 µs because finer differences are noise of the clock and of the scheduler, and would cost memory: such
// a histogram takes 184 KiB, and is created with its first value.
//
// A log ([LogWriter], [ReadLog]) is a file in the HdrHistogram log format, version 1.3, which other tools can read.
//
// Files, in the order in which they can be read: op.go and series.go (the names), recorder.go and set.go (what is
// recorded), log.go, log_counts.go and log_reader.go (the log, and adding up several), series.go and times.go (what a
// report has).
package measure
