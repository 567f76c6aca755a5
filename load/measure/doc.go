// Package measure records how long the commands of a load run took, without loss and without a lock. Each loop of the
// engine has a [Recorder] of its own. About once a second the loop takes what was recorded as a [Set] and continues
// with an empty one, so that no set is read while it is written. Sets are added up, over loops and over seconds, bucket
// by bucket and therefore exactly. A log ([LogWriter], [ReadLog]) is a file in the HdrHistogram log format, version
// 1.3, which other tools can read.
package measure
