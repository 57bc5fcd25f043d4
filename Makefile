# bursar. `make` alone says what there is. Everything here needs GNU make, bash, Go and a C compiler (for -race); the
# linter and the generators are built from the module that internal/tools pins.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
# Nothing here is a release: no binary needs the commit in it, and git refuses to tell it to another user than the clone's.
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -buildvcs=false)

TESTFLAGS ?= -race -timeout 20m
FUZZTIME ?= 30s
BENCH ?= .
BENCHTIME ?= 1s
MAX_LINES := 500
MIN_COVER := 95

TOOL := $(GO) tool -modfile='$(CURDIR)/internal/tools/go.mod'
PURE := period usage budget budget/v1alpha1 podspec policy

# Every nested module, and those of them that have Go files (the others only pin programs).
NESTED := $(patsubst ./%/go.mod,%,$(shell find . -mindepth 2 -name go.mod -not -path '*/testdata/*' | sort))
CODE := $(foreach m,$(NESTED),$(if $(shell find $(m) -name '*.go' | head -n 1),$(m)))
TESTED := $(foreach m,$(NESTED),$(if $(shell find $(m) -name '*_test.go' | head -n 1),$(m)))

##@ Every day

.PHONY: help
help: ## This list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z][a-z-]*:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: ## Play 240 agent runs under budgets on a simulated clock, without a cluster
	@$(GO) run ./examples/quickstart

.PHONY: test
test: test-unit test-integration ## Run every test, under the race detector (TESTFLAGS=)

.PHONY: test-unit
test-unit: ## Run the tests that need no API server, and the seeds of every fuzz target
	$(GO) test $(TESTFLAGS) ./...

.PHONY: test-integration
test-integration: ## Run the tests on a real API server and scheduler (the first run builds them, some minutes)
	@assets=$$($(GO) run ./internal/apiserver/cmd/assets -scheduler); \
	for module in $(TESTED); do \
	  echo "test: $$module"; \
	  (cd "$$module" && KUBEBUILDER_ASSETS="$$assets" $(GO) test $(TESTFLAGS) ./...); \
	done

.PHONY: lint
lint: lint-lines ## Vet and lint every module (the first run builds the linter, some minutes)
	@for module in . $(CODE); do \
	  echo "lint: $$module"; \
	  (cd "$$module" && $(GO) vet ./... && $(TOOL) golangci-lint run --allow-parallel-runners --config '$(CURDIR)/.golangci.yml' ./...); \
	done

.PHONY: lint-lines
lint-lines: # No Go file written by hand has more than MAX_LINES lines
	@find . -name '*.go' -exec awk -v max=$(MAX_LINES) -f internal/tools/lines.awk {} +

##@ Before a change is sent

.PHONY: generate
generate: ## Write the generated files again: deep copies, CRDs, the role, go:generate
	$(GO) generate ./...
ifneq ($(wildcard budget/v1alpha1/*.go),)
	$(TOOL) controller-gen object paths=./budget/v1alpha1
	$(TOOL) controller-gen crd paths=./budget/v1alpha1 output:crd:artifacts:config=budget/v1alpha1/crds
	$(GO) run ./internal/crdfinish budget/v1alpha1/crds/*.yaml
endif
ifneq ($(wildcard budget/controller/*.go),)
	$(TOOL) controller-gen rbac:roleName=bursar paths=./budget/controller output:rbac:dir=budget/controller
endif
	$(TOOL) controller-gen object crd paths=./examples/taskcontroller/v1alpha1 output:crd:artifacts:config=examples/taskcontroller/v1alpha1/crds

.PHONY: tidy
tidy: ## Bring the go.mod files of every module up to date (nested ones follow the root's)
	@for module in . $(NESTED); do echo "go mod tidy: $$module"; (cd "$$module" && $(GO) mod tidy); done

# The tree is compared with itself, so that neither git nor a clean checkout is needed.
SUMS = find . -type f -not -path './.git/*' -not -path './bin/*' -exec cksum {} + | LC_ALL=C sort -k3

.PHONY: verify
verify: ## Fail where generated files, go.mod files or formatting are not up to date
	@before=$$($(SUMS)); $(MAKE) --no-print-directory generate; after=$$($(SUMS)); \
	diff <(echo "$$before") <(echo "$$after") | sed -n 's/^> [0-9]* [0-9]* /stale, now generated again: /p'; \
	[ "$$before" = "$$after" ]
	@for module in . $(NESTED); do echo "go mod tidy -diff: $$module"; (cd "$$module" && $(GO) mod tidy -diff); done
	@unformatted=$$(gofmt -l -s .); [ -z "$$unformatted" ] || { echo "not formatted: $$unformatted"; exit 1; }

.PHONY: cover
cover: ## Fail where the tests of a pure package run less than MIN_COVER percent of its statements
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; status=0; \
	for package in $(PURE); do \
	  $(GO) test -coverprofile="$$dir/profile" "./$$package" > "$$dir/log" || { cat "$$dir/log"; exit 1; }; \
	  awk -v package="$$package" -v min=$(MIN_COVER) -f internal/tools/cover.awk "$$dir/profile" || status=1; \
	done; exit $$status

.PHONY: fuzz
fuzz: ## Fuzz every target for FUZZTIME, then run the exhaustive tests (BURSAR_LONG=1)
	@files=$$(grep -rlE --include='*_test.go' '^func Fuzz' . | sort || true); \
	for file in $$files; do \
	  for target in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' "$$file"); do \
	    echo "fuzz: $$(dirname "$$file") $$target for $(FUZZTIME)"; \
	    $(GO) test -C "$$(dirname "$$file")" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) .; \
	  done; \
	done
	BURSAR_LONG=1 $(GO) test -timeout 120m ./...

PODS ?= 20000
SEED ?= 1
PODS_EMULATED ?= 5000

.PHONY: differential
differential: ## Predict random pods and ask a real API server: PODS on its own version, PODS_EMULATED on each older one (SEED=)
	@assets=$$($(GO) run ./internal/apiserver/cmd/assets); cd internal/integration; \
	run() { KUBEBUILDER_ASSETS="$$assets" BURSAR_MINOR="$$1" BURSAR_PODS="$$2" BURSAR_SEED='$(SEED)' \
	  $(GO) test -count=1 -timeout 240m -run '^TestPredictionsAreWhatTheServerSays$$' -v ./podspec/differential; }; \
	run "" '$(PODS)'; for minor in 36 35 34; do run "$$minor" '$(PODS_EMULATED)'; done

.PHONY: mutants
mutants: ## Break podspec in every way that is known, and print which tests notice
	@$(GO) run ./internal/mutants/cmd/mutants .

.PHONY: spawner
spawner: ## Run the spawner example and its preflight command on a real API server
	@assets=$$($(GO) run ./internal/apiserver/cmd/assets); cd internal/integration; \
	KUBEBUILDER_ASSETS="$$assets" $(GO) test -count=1 -run 'Spawner|Preflight' -v ./podspec

.PHONY: taskcontroller
taskcontroller: ## Run the taskcontroller example on a real API server
	@assets=$$($(GO) run ./internal/apiserver/cmd/assets); cd internal/integration; \
	KUBEBUILDER_ASSETS="$$assets" $(GO) test -count=1 -v ./taskcontroller

.PHONY: jobgate
jobgate: ## Run the jobgate example on a real API server with the Job controller
	@assets=$$($(GO) run ./internal/apiserver/cmd/assets); cd internal/integration; \
	KUBEBUILDER_ASSETS="$$assets" $(GO) test -count=1 -v ./jobgate

.PHONY: demo-cluster
demo-cluster: ## Let a day of tasks pass on a real API server in half a minute, and show the budgets
	@assets=$$($(GO) run ./internal/apiserver/cmd/assets); cd internal/integration; \
	KUBEBUILDER_ASSETS="$$assets" $(GO) run ./demo/cmd/demo-cluster

.PHONY: bench
bench: ## Run the benchmarks, each with its ratio to a floor or a naive twin (BENCH= BENCHTIME=)
	@dirs=$$(grep -rlE --include='*_test.go' '^func Benchmark' . | grep -vE '^\./($(subst $() ,|,$(NESTED)))/' | xargs -n 1 dirname | sort -u); \
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) $$dirs | awk -f internal/tools/bench.awk

# The stock tools of Rego, over folders as their authors have them. opa is built from the module that go.mod pins; regal is
# a program that Go's modules do not have at the moment, so that it is taken from the PATH.
OPA := $(GO) tool -modfile='$(CURDIR)/internal/tools/rego/go.mod' opa
REGAL ?= regal
REGO_FILES := examples/policies rego/lib
REGO_FLAGS := -s rego/schemas/input.json --capabilities rego/capabilities.json

.PHONY: policies
policies: ## Run policytest, opa check, opa test and regal lint over the example policies (the first run builds opa, some minutes; REGAL=)
	$(GO) run ./policy/policytest/cmd/policytest examples/policies
	$(OPA) check --strict $(REGO_FLAGS) $(REGO_FILES)
	$(OPA) test $(REGO_FLAGS) $(REGO_FILES)
	@if command -v '$(REGAL)' > /dev/null; then '$(REGAL)' lint --config-file rego/.regal/config.yaml $(REGO_FILES); \
	else echo 'policies: there is no $(REGAL) on the PATH, so that regal lint was not run'; fi

RECORDS ?= 0,10000,100000
ADMISSIONS ?= 1000

.PHONY: bench-cluster
bench-cluster: ## Measure admissions on a real API server that stores RECORDS records, some minutes (ADMISSIONS=)
	@assets=$$($(GO) run ./internal/apiserver/cmd/assets); cd internal/integration; \
	KUBEBUILDER_ASSETS="$$assets" BURSAR_RECORDS='$(RECORDS)' BURSAR_ADMISSIONS='$(ADMISSIONS)' \
	  $(GO) test -count=1 -timeout 60m -v ./bench

##@ The API server of the integration tests

.PHONY: apiserver
apiserver: ## Build etcd, kube-apiserver and kube-controller-manager into the user's cache, and say where
	@$(GO) run ./internal/apiserver/cmd/assets

.PHONY: apiserver-scheduler
apiserver-scheduler: ## The same, with kube-scheduler
	@$(GO) run ./internal/apiserver/cmd/assets -scheduler
