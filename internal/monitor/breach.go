package monitor

// The names of what the rules find. Each has its clause in conformance/model; names are stable.
const (
	LineEnd         = "line-end"
	LineForm        = "line-form"
	LineSyntax      = "line-syntax"
	LineUTF8        = "line-utf8"
	CommandInFlight = "command-in-flight"

	BeforeGreeting = "before-greeting"
	HelloNotFirst  = "hello-not-first"

	FetchAfterQuiet     = "fetch-after-quiet"
	FetchAfterTerminate = "fetch-after-terminate"
)
