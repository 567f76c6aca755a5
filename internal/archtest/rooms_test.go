package archtest

// room is what one package of the module is allowed.
type room struct {
	mayImport []string // packages of the module; nothing else of the module
	testsAlso []string // packages of the module that its tests in the package may import beside those
	alone     bool     // the standard library only: no package of another module
	speaks    bool     // may print, read flags and exit
	tests     bool     // may import testing outside its tests
}

// rooms has a row for every package of the module. Imports point down only, and
// the siblings conformance, fakes and internal/target never import each other: what
// brings them together is internal/selftest and the rooms of internal/cli. A new package gets a
// row here and a line in docs/architecture.md.
var rooms = map[string]room{
	"cmd/fwpbench": {mayImport: []string{"internal/cli/bench", "internal/cli/program"}, speaks: true},
	"cmd/fwpcheck": {mayImport: []string{"internal/cli/check", "internal/cli/program"}, speaks: true},

	"internal/cli/bench": {
		mayImport: []string{
			"conformance/law", "internal/cli/program", "internal/input", "internal/minimize", "internal/peer", "internal/session",
			"internal/target", "internal/text",
			"load", "load/agents", "load/arrivals", "load/capacity", "load/client", "load/compare", "load/disrupt",
			"load/exposition",
			"load/health", "load/judge", "load/measure", "load/paired", "load/protocol", "load/results", "load/workload",
			"reports", "reports/html",
		},
		testsAlso: []string{"fakes", "internal/history"},
		speaks:    true,
	},
	"internal/cli/check": {
		mayImport: []string{
			"conformance", "conformance/explore", "conformance/fwpsubject", "conformance/run", "conformance/upgrade",
			"conformance/workers", "conformance/workers/situations", "docs", "internal/cli/program",
			"internal/double", "internal/expect",
			"internal/history", "internal/input", "internal/life", "internal/peer", "internal/recorder",
			"internal/selftest", "internal/shortage", "internal/stress", "internal/target", "internal/text",
			"load/disrupt", "load/health", "load/workload", "reports", "reports/formats", "reports/page",
			"reports/site", "scenarios", "scenarios/fwpdialect", "scenarios/play",
		},
		testsAlso: []string{"conformance/fwpsuite", "emqp", "fakes", "fwp", "zmtp"},
		speaks:    true,
	},
	"internal/cli/program": {
		mayImport: []string{
			"conformance", "internal/input", "internal/peer", "internal/proxy", "internal/shortage", "internal/target",
			"internal/text", "internal/yamlfile", "load/disrupt", "load/workload", "reports", "reports/formats", "reports/html", "reports/page",
		},
		speaks: true,
	},
	"fwptest": {
		mayImport: []string{
			"conformance", "conformance/fwpsuite", "conformance/run", "internal/expect", "internal/input",
			"internal/stress", "internal/target", "reports", "reports/page", "scenarios", "scenarios/fwpdialect",
		},
		testsAlso: []string{"fakes", "fakes/faults"},
		tests:     true,
	},
	"internal/expect": {mayImport: []string{"internal/text", "reports"}},
	"internal/double": {
		mayImport: []string{
			"fakes", "fwp", "internal/jsonnum", "internal/session", "internal/session/fwpsession", "scenarios",
			"scenarios/fwpdialect",
		},
		testsAlso: []string{"fakes/faults"},
	},
	"internal/selftest": {
		mayImport: []string{
			"conformance", "conformance/run", "conformance/workers/situations", "internal/memnet", "internal/peer", "reports",
		},
		testsAlso: []string{
			"conformance/fwpsuite", "conformance/workqsuite", "emqp", "fakes", "fakes/catalogue", "fakes/fake*", "fakes/faults",
			"fakes/variations", "fwp", "internal/stress", "scenarios", "scenarios/fwpdialect", "scenarios/play", "workq",
		},
	},
	"internal/peer": {
		mayImport: []string{
			"conformance", "conformance/*subject", "conformance/*suite", "conformance/explore", "conformance/run",
			"conformance/*upgrade", "conformance/*worker", "conformance/workers/situations", "docs",
			"emqp", "fakes", "fakes/catalogue", "fakes/fake*", "fakes/faults", "fakes/variations", "internal/double",
			"internal/stress", "internal/target", "internal/text", "load/*speaker", "load/protocol", "load/workload",
			"scenarios", "scenarios/*dialect", "scenarios/play",
		},
	},
	"internal/stress": {
		mayImport: []string{
			"conformance", "conformance/explore", "conformance/fwpsubject", "conformance/fwpsuite", "conformance/law",
			"internal/history", "internal/lag", "internal/session/fwpsession", "internal/shortage", "load",
			"load/fwpspeaker", "load/measure", "load/results", "load/workload", "scenarios", "scenarios/fwpdialect",
			"scenarios/play",
		},
	},

	"conformance": {
		mayImport: []string{
			"conformance/law", "internal/lag", "internal/text", "internal/wait", "reports", "scenarios", "scenarios/play",
		},
		testsAlso: []string{"scenarios/fwpdialect"},
	},
	"conformance/law": {mayImport: []string{"internal/session", "internal/values", "reports", "scenarios"}},
	"conformance/run": {
		mayImport: []string{
			"conformance", "conformance/law", "internal/lag", "internal/session", "internal/text", "internal/wait", "reports",
			"scenarios", "scenarios/play",
		},
		testsAlso: []string{"conformance/fwpsuite"},
	},
	"conformance/fwpsuite": {
		mayImport: []string{
			"conformance", "conformance/explore", "conformance/fwpsubject", "conformance/model", "fwp",
			"internal/text", "scenarios", "scenarios/fwpdialect", "scenarios/play",
		},
		testsAlso: []string{"conformance/run", "reports"},
	},
	"conformance/explore": {
		mayImport: []string{
			"conformance", "conformance/law", "internal/lag", "internal/minimize", "internal/session", "internal/text",
			"internal/wait", "reports", "scenarios", "scenarios/play",
		},
		testsAlso: []string{"scenarios/fwpdialect", "scenarios/workqdialect"},
	},
	"conformance/upgrade": {
		mayImport: []string{"conformance", "internal/history", "internal/text", "reports", "scenarios/play"},
	},
	"conformance/fwpupgrade": {mayImport: []string{
		"conformance/fwpsubject", "conformance/oracle", "conformance/upgrade", "fwp", "internal/history", "internal/jsonnum",
		"internal/rfc3339", "internal/values", "scenarios/fwpdialect",
	}},
	"conformance/fwpsubject": {mayImport: []string{
		"conformance/explore", "conformance/law", "conformance/model", "conformance/oracle", "fwp", "internal/rfc3339",
		"internal/session", "internal/session/fwpsession", "internal/values", "scenarios", "scenarios/fwpdialect",
	}},
	"conformance/oracle": {
		mayImport: []string{"conformance/law", "conformance/model", "fwp", "internal/jsonnum", "internal/rfc3339"},
	},
	"conformance/model": {mayImport: []string{"fwp", "internal/text"}},
	"conformance/emqpsuite": {mayImport: []string{
		"conformance", "conformance/emqpsubject", "conformance/explore", "emqp", "internal/text",
		"scenarios/emqpdialect", "scenarios/play", "zmtp",
	}},
	"conformance/emqpworker": {mayImport: []string{
		"conformance/emqpsuite", "conformance/workers/situations", "emqp", "internal/input", "internal/text",
		"internal/values", "internal/wait", "scenarios/play", "zmtp",
	}},
	"conformance/emqpsubject": {mayImport: []string{
		"conformance/explore", "conformance/law", "emqp", "internal/session", "internal/session/emqpsession",
		"internal/values", "scenarios", "scenarios/emqpdialect", "zmtp",
	}},
	"conformance/workers": {mayImport: []string{"fwp", "internal/text"}, alone: true},
	"conformance/workers/situations": {
		mayImport: []string{
			"conformance", "conformance/fwpsuite", "conformance/workers", "fakes", "fwp",
			"internal/jsonnum", "internal/lag", "internal/memnet", "internal/rfc3339", "internal/shortage", "internal/target",
			"internal/values", "reports", "scenarios", "scenarios/play",
		},
		testsAlso: []string{"conformance/run"},
	},
	"conformance/workqworker": {
		mayImport: []string{
			"conformance/workers/situations", "conformance/workqsuite", "fakes/fakeworkq", "internal/text", "scenarios/play",
			"workq",
		},
	},
	"conformance/workqsuite": {mayImport: []string{
		"conformance", "conformance/explore", "conformance/workqsubject", "internal/text", "scenarios/workqdialect", "workq",
	}},
	"conformance/workqsubject": {mayImport: []string{
		"conformance/explore", "conformance/law", "internal/session", "internal/session/workqsession",
		"internal/values", "scenarios", "scenarios/workqdialect", "workq",
	}},
	"fakes": {mayImport: []string{
		"fakes/catalogue", "fakes/store", "fwp", "internal/input", "internal/rfc3339", "internal/wait",
	}, alone: true},
	"fakes/faults":     {mayImport: []string{"fakes", "fakes/catalogue", "fwp"}, alone: true},
	"fakes/variations": {mayImport: []string{"fakes", "fakes/catalogue", "fakes/faults", "fwp"}, alone: true},
	"fakes/catalogue":  {alone: true},
	"fakes/fakeworker": {mayImport: []string{"fakes/catalogue", "fwp", "internal/rfc3339", "internal/wait"}, alone: true},
	"fakes/fakeemqpworker": {
		mayImport: []string{"emqp", "fakes/catalogue", "internal/wait", "zmtp"}, alone: true,
	},
	"fakes/fakeemqp": {mayImport: []string{"emqp", "fakes/catalogue", "zmtp"}, alone: true},
	"fakes/fakeworkqworker": {
		mayImport: []string{"fakes/catalogue", "internal/wait", "workq"}, alone: true,
	},
	"fakes/fakeworkq": {mayImport: []string{"fakes/catalogue", "fakes/store", "internal/serving", "workq"}, alone: true},
	"fakes/store":     {alone: true},
	"docs":            {},
	"internal/target": {
		mayImport: []string{"internal/input", "internal/lag", "internal/shortage", "internal/text", "internal/wait"},
	},

	"load": {mayImport: []string{
		"internal/history", "internal/shortage", "internal/text", "load/arrivals", "load/client", "load/disrupt",
		"load/engine", "load/health", "load/judge", "load/ledger", "load/measure", "load/protocol", "load/results",
		"load/workload", "reports",
	}, testsAlso: []string{"reports/page"}},
	"load/agents": {mayImport: []string{
		"internal/lag", "internal/text", "internal/wait", "load", "load/judge", "load/measure", "load/results",
		"load/workload", "reports",
	}},
	"load/exposition": {mayImport: []string{"load", "load/measure", "load/results"}},
	"load/client": {mayImport: []string{
		"internal/history", "internal/shortage", "internal/text", "load/arrivals", "load/engine", "load/ledger",
		"load/measure", "load/protocol", "load/workload",
	}, testsAlso: []string{"load/fwpspeaker"}},
	"load/fwpspeaker": {mayImport: []string{
		"fwp", "internal/session", "internal/session/fwpsession", "internal/text", "load/measure", "load/protocol",
		"load/workload",
	}},
	"load/emqpspeaker": {mayImport: []string{
		"emqp", "internal/session/emqpsession", "load/measure", "load/protocol", "load/workload", "zmtp",
	}},
	"load/workqspeaker": {mayImport: []string{
		"internal/session", "internal/session/workqsession", "load/measure", "load/protocol", "load/workload", "workq",
	}},
	"load/protocol": {mayImport: []string{"internal/text", "load/measure", "load/workload"}},
	"load/workload": {mayImport: []string{"internal/text", "internal/yamlfile", "load/arrivals"}},
	"load/disrupt":  {mayImport: []string{"internal/text", "internal/wait", "internal/yamlfile", "load/workload"}},
	"load/capacity": {alone: true},
	"load/compare":  {mayImport: []string{"load/paired", "load/results"}, testsAlso: []string{"reports"}, alone: true},
	"load/judge":    {mayImport: []string{"internal/text", "load/results", "reports"}, alone: true},
	"load/results":  {mayImport: []string{"internal/shortage", "internal/text", "reports"}, alone: true},
	"load/health":   {mayImport: []string{"load/results"}, alone: true},
	"load/paired":   {alone: true},
	"load/arrivals": {alone: true},
	"load/engine":   {mayImport: []string{"internal/text"}},
	"load/ledger":   {alone: true},
	"load/measure":  {mayImport: []string{"internal/text"}},

	"scenarios": {mayImport: []string{"internal/jsonnum", "internal/rfc3339", "internal/session", "internal/text"}},
	"scenarios/play": {
		mayImport: []string{"internal/lag", "internal/session", "internal/text", "internal/wait", "scenarios"},
		testsAlso: []string{"scenarios/fwpdialect"},
	},
	"scenarios/fwpdialect": {mayImport: []string{
		"fwp", "internal/jsonnum", "internal/session", "internal/session/fwpsession", "scenarios",
	}},

	"scenarios/emqpdialect": {mayImport: []string{
		"emqp", "internal/session", "internal/session/emqpsession", "internal/text", "scenarios", "zmtp",
	}},
	"scenarios/workqdialect": {mayImport: []string{
		"internal/session", "internal/session/workqsession", "scenarios", "workq",
	}},

	"internal/session": {mayImport: []string{"internal/wait"}, alone: true},
	"internal/session/emqpsession": {
		mayImport: []string{"emqp", "internal/session", "internal/text", "zmtp"}, alone: true,
	},
	"internal/session/workqsession": {mayImport: []string{"internal/session", "internal/text", "workq"}, alone: true},
	"internal/session/fwpsession": {
		mayImport: []string{"fwp", "internal/jsonnum", "internal/session", "internal/text"}, alone: true,
	},

	"fwp":              {mayImport: []string{"internal/growbuf", "internal/jsonnum", "internal/rfc3339"}, alone: true},
	"emqp":             {alone: true},
	"zmtp":             {mayImport: []string{"internal/growbuf"}, alone: true},
	"zmtp/libzmq":      {},
	"workq":            {mayImport: []string{"internal/growbuf"}, alone: true},
	"internal/growbuf": {alone: true},
	"internal/jsonnum": {alone: true},
	"internal/rfc3339": {alone: true},
	"reports":          {mayImport: []string{"internal/text"}, alone: true},
	"reports/page":     {mayImport: []string{"internal/text", "reports"}, alone: true},
	"reports/html":     {mayImport: []string{"internal/text", "reports"}, alone: true},
	"reports/site":     {mayImport: []string{"internal/text", "reports", "reports/html"}, alone: true},
	"reports/formats": {
		mayImport: []string{"internal/text", "reports", "reports/html", "reports/page"}, alone: true,
	},
	"internal/schematest": {testsAlso: []string{"internal/double", "internal/text", "load/results", "reports"}},
	"internal/input":      {alone: true},
	"internal/shortage":   {mayImport: []string{"internal/text"}, alone: true},
	"internal/scripttest": {
		mayImport: []string{"fakes", "internal/cli/program", "internal/peer", "internal/serving"},
	},
	"internal/faketest": {
		mayImport: []string{"fakes", "internal/golden", "internal/input", "internal/memnet", "internal/slow"}, tests: true,
	},
	"internal/suitetest": {
		mayImport: []string{
			"conformance", "conformance/run", "conformance/workers/situations", "fakes/fakeemqp",
			"internal/memnet", "reports", "scenarios",
		},
		tests: true,
	},
	"internal/loadtest": {
		mayImport: []string{"load", "load/protocol", "load/results", "load/workload"}, tests: true,
	},
	"internal/minimize": {alone: true},
	"internal/text":     {alone: true},
	"internal/values":   {alone: true},
	"internal/serving":  {alone: true},
	"internal/lag":      {mayImport: []string{"internal/input"}, alone: true},
	"internal/wait":     {alone: true},
	"internal/memnet":   {alone: true},
	"internal/recorder": {
		mayImport: []string{
			"conformance/law", "conformance/workers", "fwp", "internal/lag", "internal/minimize", "internal/proxy",
			"internal/rfc3339",
			"internal/session", "internal/session/fwpsession", "internal/text", "internal/wait", "scenarios",
			"scenarios/fwpdialect", "scenarios/play",
		},
		testsAlso: []string{
			"conformance/fwpsubject", "fakes", "fakes/faults", "fakes/variations", "load", "load/fwpspeaker", "load/workload",
		},
	},
	"internal/proxy":    {mayImport: []string{"internal/shortage", "internal/wait"}, alone: true},
	"internal/yamlfile": {},
	"internal/slow":     {alone: true, tests: true},
	"internal/golden":   {mayImport: []string{"internal/input"}, speaks: true, tests: true}, // the flag -update
	"internal/life":     {mayImport: []string{"internal/history", "internal/text", "reports", "scenarios"}},
	"internal/history":  {mayImport: []string{"internal/text"}, alone: true},

	"clients/npm":       {},
	"internal/archtest": {},
}

// forTests are the packages that every test may import, in the package or beside
// it. Tests in an external package (package x_test) may import sideways anyway.
var forTests = []string{"internal/golden", "internal/memnet", "internal/serving", "internal/slow"}
