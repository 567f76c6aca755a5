package clientrules

import "slices"

// The names of what the rules find. Each has its clause in protocols/fwp/model; names are stable.
const (
	LineEnd         = "line-end"
	LineUnfinished  = "line-unfinished"
	LineStalled     = "line-stalled"
	LineForm        = "line-form"
	LineSyntax      = "line-syntax"
	LineUTF8        = "line-utf8"
	CommandInFlight = "command-in-flight"

	BeforeGreeting      = "before-greeting"
	HelloNotFirst       = "hello-not-first"
	CommandUnidentified = "command-unidentified"
	HelloVersion        = "hello-version"
	NewerVersionRefused = "newer-version-refused"
	HiFieldRefused      = "hi-field-refused"
	PasswordMissing     = "password-missing"
	PasswordHash        = "password-hash"
	PasswordEscaped     = "password-escaped"

	WorkerFields      = "worker-fields"
	FetchWithoutWid   = "fetch-without-wid"
	WidShared         = "wid-shared"
	HelloDiffers      = "hello-differs"
	ConnectionForEach = "connection-for-each-command"
	OneConnection     = "one-connection"

	PushJID       = "push-jid"
	PushJobtype   = "push-jobtype"
	PushArgs      = "push-args"
	PushOptional  = "push-optional"
	PushReadOnly  = "push-read-only"
	PushJIDReused = "push-jid-reused"
	PushRepeated  = "push-repeated"

	BeyondConcurrency = "beyond-concurrency"
	FetchIdle         = "fetch-idle"
	FetchOtherQueue   = "fetch-other-queue"
	FetchQueueMissing = "fetch-queue-missing"

	JobNotReported      = "job-not-reported"
	JobReportedTwice    = "job-reported-twice"
	ReportUnfetched     = "report-unfetched"
	AckOfFailed         = "ack-of-failed"
	FailOfDone          = "fail-of-done"
	AckEarly            = "ack-early"
	AckFields           = "ack-fields"
	FailFields          = "fail-fields"
	FailEmpty           = "fail-empty"
	ErrorEndsConnection = "error-ends-connection"

	BeatMissing          = "beat-missing"
	QuietWithoutBeat     = "quiet-without-beat"
	TerminateWithoutBeat = "terminate-without-beat"
	BeatTooOften         = "beat-too-often"
	BeatInterval         = "beat-interval"
	BeatByProducer       = "beat-by-producer"
	BeatWid              = "beat-wid"
	BeatState            = "beat-state"
	BeatMemory           = "beat-memory"

	FetchAfterQuiet     = "fetch-after-quiet"
	FetchAfterTerminate = "fetch-after-terminate"
	StateIgnored        = "state-ignored"
	Unquieted           = "unquieted"
	QuietExit           = "quiet-exit"
	TerminateJobLeft    = "terminate-job-left"
	TerminateStays      = "terminate-stays"
	UnknownWorker       = "unknown-worker"

	LineAfterEnd     = "line-after-end"
	ClosedWithoutEnd = "closed-without-end"
	EndWithJobs      = "end-with-jobs"
)

// timedBreaches are the breaches whose premise is a span of time, so that a machine that is late may look like one. All
// others are seen in what a client has sent.
var timedBreaches = []string{
	AckEarly, BeatInterval, BeatMissing, BeatTooOften, BeyondConcurrency, EndWithJobs, FailOfDone,
	FetchAfterQuiet, FetchAfterTerminate, FetchIdle, HiFieldRefused, JobNotReported, LineStalled, LineUnfinished,
	NewerVersionRefused, PushJIDReused, QuietExit, QuietWithoutBeat, StateIgnored, TerminateJobLeft, TerminateStays,
	TerminateWithoutBeat, UnknownWorker,
	Unquieted,
}

// IsTimed reports whether the premise of a breach is a span of time.
func IsTimed(breach string) bool { return slices.Contains(timedBreaches, breach) }
