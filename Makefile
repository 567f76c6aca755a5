# `make` prints what there is to make. Go alone is needed, except for client-npm, client-python, browser, formats and zmq.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
FUZZTIME ?= 20s
BENCH    ?= .
# Beside linux/amd64, where everything else runs.
PLATFORMS := darwin/arm64 windows/amd64

# The linter has a module of its own, so that its many dependencies stay out of ours.
TOOL := $(GO) tool -modfile=tools/lint/go.mod
LINT := $(TOOL) golangci-lint

.PHONY: help
help: ## print this
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the commands into bin/, without symbols
	$(GO) build -trimpath -ldflags=-s -o bin/ ./cmd/...

.PHONY: test
test: ## run all tests, the long searches and the whole matrix too; needs Go and no server
	FWP_SLOW=1 $(GO) test -timeout 30m ./...

# With PLAYS=1 no page is written, and no test is run; what has not begun within WITHIN=1h is left out.
.PHONY: prove
prove: ## say what is missing of what changed since BASE=HEAD: play it, write pages, test the packages
	@$(GO) run ./internal/proof prove -base '$(or $(BASE),HEAD)' $(if $(PLAYS),-plays) $(if $(WITHIN),-within $(WITHIN))

# Four minutes on two processors; see also slow. The other tests that FWP_SLOW=1 adds are those of `make test`.
# BUG=NAME plays one planted bug only, and CHECK=NAME one check only, of servers and clients; -v tells what they find.
# With UPDATE=1 the pages are written, or the row of the bug.
.PHONY: matrix
ifneq ($(BUG)$(CHECK),)
matrix:
	FWP_SLOW=1 FWP_CHECK='$(CHECK)' $(GO) test -timeout 60m ./internal/proof/selftest -v $(if $(UPDATE),-update) \
		-run 'TestBugs$$/$(or $(OF),.)/each/$(if $(BUG),^$(BUG)$$)' | grep -vE '^ *(===|--- PASS)'
else
matrix: ## play the matrix of planted bugs and checks, and mutants; OF=. of clients too; BUG=NAME or CHECK=NAME a part
	FWP_SLOW=1 $(GO) test -timeout 60m ./internal/proof/selftest -run 'TestBugs$$/$(or $(OF),-server)' $(if $(UPDATE),-update)
	FWP_SLOW=1 $(GO) test ./protocols/fwp/upgrade -run 'TestBugsAreFound$$'
	FWP_SLOW=1 $(GO) test ./protocols/emqp/suite -run 'TestValuesAreFound$$'
	FWP_SLOW=1 $(GO) test ./internal/proof -run 'TestMutantsAreFound$$'
	FWP_SLOW=1 $(GO) test ./protocols/fwp/clientrules
endif

# Every package that starts goroutines (internal/proof/archtest has a test), and those that share values with them.
RACED := ./conformance/... ./fakes/... ./fwptest ./internal/... ./load/... ./protocols/... ./reports/... ./scenarios/...

# A quarter of an hour of processor time.
.PHONY: permitted
permitted: ## play all checks on workers and servers of Workq and eMQP that differ and are right, as .ci/run does
	FWP_SLOW=1 $(GO) test ./internal/proof/selftest -run 'Test(Client|Other)Variations$$'

# Half an hour: GATES gates for each of ten servers, the two of Faktory where FWP_GATE_FAKTORY='PATH PATH' names them.
.PHONY: gates
gates: ## write known findings once, expect GATES=5 green gates of each server, and a red one with one more bug
	FWP_GATES=$(or $(GATES),5) $(GO) test -timeout 90m ./cmd/fwpcheck -run 'TestGatesTurnGreenAndStay$$' -v

.PHONY: slow
slow: ## play all that is slow, internal/proof/slow.txt, as .ci/nightly does; SHARE=HEAD plays what .ci/run does
	@$(GO) run ./internal/proof slow $(if $(SHARE),-share '$(SHARE)')

# Without archtest, which reads source in one goroutine, and without vet, which make test runs. SKIP=PATTERN leaves out
# more packages, and ONLY=PATTERN all others.
.PHONY: race
race: ## run the tests of what runs many goroutines under the race detector; needs cgo
	$(GO) list $(RACED) | grep -vE '/(internal/proof/archtest$(if $(SKIP),|$(SKIP)))$$' | \
		grep -E '/($(or $(ONLY),.*))$$' | xargs $(GO) test -race -vet=off -timeout 30m

# Nine minutes on two processors (docs/proofs.md), and three times as long without stored lines.
# ONLY='bug fwp/ack' plays the lines that begin like this.
.PHONY: corpus
corpus: ## play all bugs, variations and seeds, and compare with the stored lines; UPDATE=1 stores, ONLY=TEXT a part
	@mkdir -p bin && rm -f bin/corpus.txt
	$(GO) run ./internal/proof corpus -o bin/corpus.txt -against internal/proof/testdata/corpus.txt \
		$(if $(UPDATE),-store) $(if $(ONLY),-only '$(ONLY)')

# Twelve minutes; each further FULL is five more. BASE: where this branch left main, or the commit before.
.PHONY: costs
costs: ## compare run, explore and fwpbench with those of BASE=, in TURNS=5 turns, FULL=1 of a full run; FAKTORY=PATH
	@$(GO) run ./internal/proof costs $(if $(filter-out file,$(origin BASE)),-base '$(BASE)') \
		-turns $(or $(TURNS),5) -full $(or $(FULL),1) $(if $(FAKTORY),-faktory '$(FAKTORY)')

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME=20s; PACKAGES=./fakes,./load/plan a part
	@packages=$$(echo '$(or $(PACKAGES),./...)' | tr , ' ' | xargs $(GO) list); \
	for package in $$packages; do \
		targets=$$($(GO) test -list '^Fuzz' "$$package" | sed -n '/^Fuzz/p'); \
		for target in $$targets; do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime '$(FUZZTIME)' \
				-fuzzminimizetime 100x "$$package"; \
		done; \
	done

.PHONY: bench
bench: ## run the benchmarks that match BENCH=.
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: fmt
fmt: ## format the Go files
	$(LINT) fmt

.PHONY: lint
lint: ## run the linters; the first time takes a minute or more to build them
	$(LINT) run
	$(GO) run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 .github/workflows/*.yml

.PHONY: vulnerabilities
vulnerabilities: ## look what is used up in the vulnerability database of the Go project; says so where that is not reached
	@if seen=$$($(TOOL) govulncheck ./... 2>&1); then echo "$$seen"; else \
		echo "$$seen"; \
		case "$$seen" in \
		*'fetching vulnerabilities'*) echo "NOT CHECKED: the vulnerability database was not reached" ;; \
		*) exit 1 ;; \
		esac; \
	fi

.PHONY: cross
cross: ## compile and vet everything, tests too, for each of PLATFORMS
	@for platform in $(PLATFORMS); do \
		echo "vet for $$platform"; \
		export CGO_ENABLED=0 GOOS="$${platform%/*}" GOARCH="$${platform#*/}"; \
		$(GO) vet -tags npm ./...; \
	done

.PHONY: client-npm
client-npm: ## test the embedded server with npm's faktory-worker; needs node and npm
	cd clients/npm && npm ci --no-audit --no-fund
	$(GO) test -race -count=1 -tags npm ./clients/npm

.PHONY: client-go
client-go: ## test the double with the tests of faktory_worker_go, and judge its worker
	cd clients/go && $(GO) vet ./... && $(GO) test -count=1 ./...

.PHONY: client-python
client-python: ## test the package for Python; needs python3
	$(GO) build -o bin/fwpcheck ./cmd/fwpcheck
	cd clients/python && FWPCHECK=$(CURDIR)/bin/fwpcheck python3 -B -m unittest

.PHONY: browser
browser: ## open the HTML reports in a headless browser; needs chromium-headless-shell or chromium, and npm
	cd tools/browser && npm ci --no-audit --no-fund
	cd tools/browser && FWP_BROWSER=required $(GO) test -count=1 -timeout 15m ./...

.PHONY: formats
formats: ## read reports with readers of others: junit2json, markdown-it; needs node and npm
	$(GO) build -trimpath -ldflags=-s -o bin/ ./cmd/...
	cd tools/formats && npm ci --no-audit --no-fund && node formats.mjs ../../bin

.PHONY: zmq
zmq: ## hold package zmtp against libzmq; needs a Python with pyzmq: FWP_ZMQ=/usr/bin/python3
	FWP_ZMQ=$${FWP_ZMQ:-/usr/bin/python3} $(GO) test -race -count=1 -timeout 5m ./protocols/emqp/zmtp/...

.PHONY: kubernetes
kubernetes: ## decode the manifests of docs/segments.md with the types of the Kubernetes API
	cd tools/kubernetes && $(GO) test -count=1 ./...

.PHONY: kubernetes-try
kubernetes-try: ## run these manifests in the cluster CONTEXT=NAME with IMAGE=IMAGE, in a namespace of its own; needs kubectl
	@tools/kubernetes/try.sh '$(CONTEXT)' '$(IMAGE)'

.PHONY: release-try
release-try: ## install this commit as users install a release, from a module proxy in bin/release-try
	tools/release/try.sh bin/release-try

.PHONY: tidy-check
tidy-check: ## check that go.mod and go.sum are as go mod tidy leaves them
	$(GO) mod tidy -diff
	cd tools/lint && $(GO) mod tidy -diff
	cd tools/browser && $(GO) mod tidy -diff
	cd tools/kubernetes && $(GO) mod tidy -diff
	cd clients/go && $(GO) mod tidy -diff
