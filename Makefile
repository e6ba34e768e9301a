# fsmcp: build, show and test. "make help" lists the targets.
#
# Nothing here asks a question; what is missing on the machine is installed by
# "make setup" where that can be done, and named loudly where it cannot.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
GO ?= go
BIN := bin/fsmcp

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.builtFrom=$(COMMIT)

# The race detector would sleep a second at every exit of the many servers that
# the tests start.
export GORACE ?= atexit_sleep_ms=0
# The same flag for every build, so that tests share what "make build" compiled.
export GOFLAGS += -trimpath

# The checkers, pinned here: in go.mod they would be dependencies of fsmcp.
STATICCHECK := v0.8.2
GOVULNCHECK := v1.8.0

# Debian packages that the tests use beside the Go tools. Later work adds its
# own here: a program that is already installed is not asked for again.
PACKAGES := git:git patch:patch strace:strace gcc:gcc bsdutils:script util-linux:setpriv pkg-config:pkg-config tesseract-ocr:tesseract poppler-utils:pdftotext libvips-tools:vips jq:jq man-db:man groff-base:groff less:less xvfb:Xvfb xclip:xclip ripgrep:rg xfsprogs:mkfs.xfs btrfs-progs:mkfs.btrfs
# Those that bring a module for the system's own Python instead of a program.
MODULES := python3-nbformat:nbformat
# And those that bring files: documents in CJK, and what poppler reads them with.
FILES := poppler-data:/usr/share/poppler/cMap/Adobe-Japan1 developers-reference-ja:/usr/share/developers-reference/ja/developers-reference.pdf \
  debian-reference-ja:/usr/share/debian-reference/debian-reference.ja.pdf debian-reference-zh-cn:/usr/share/debian-reference/debian-reference.zh-cn.pdf

# Packages whose code runs in several goroutines: make test tests those of the first line under the race
# detector alone, with fewer rounds (internal/shortrun), and the others without it alone; make faults runs
# all of them under it, in full. It has nothing to find in pure packages. Those that take longest come first.
ONLY_RACED := worker lsp history save server hooks audit clipboard filelock media/decoder owndir records server/schedule server/wire settings/follow state watch
RACED_PACKAGES := $(ONLY_RACED) fsys search settings tools

# Scripts of what runs at the same time as something else (hooks, reminders, what a call waits for, batches,
# cancellation, the end): the whole server under the race detector. The others run without it, as do the
# tests of the program, which start servers by the hundred; "make faults" runs all of them under it.
RACED := TestScripts/^(hook_|reminder_|stuck_|settings_rule_taken|proto_(batch|cancelled|closed|end|nohup|queue|signals|threads)_)

# Packages whose tests start many programs or take times: make test runs them last and two at a time,
# the longest first.
LONG := faults clienttest release media/pdf bench

# Tests of faults that make test runs with nothing beside them: a decoder, which runs at a low priority,
# can wait for a processor longer than it may take.
ALONE := ^TestHostile(Office|Pictures|PDFs)$$

.PHONY: help setup wine wine-setup wine-part wine-units build install uninstall man release demo pictures quick quick-scripts quick-units quick-vet test test-raced-packages test-raced-scripts test-vips test-kit clients comparison check bench fuzz faults cross clean

help: ## what each target is for
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## */\1\t/' | expand -t 10

setup: ## once: install the Debian packages that the tests use
	@missing=; for p in $(PACKAGES); do \
	  command -v $${p#*:} >/dev/null 2>&1 || missing="$$missing $${p%%:*}"; done; \
	for m in $(MODULES); do \
	  /usr/bin/python3 -c "import $${m#*:}" >/dev/null 2>&1 || missing="$$missing $${m%%:*}"; done; \
	for f in $(FILES); do [ -e $${f#*:} ] || missing="$$missing $${f%%:*}"; done; \
	pkg-config --exists vips 2>/dev/null || missing="$$missing libvips-dev"; \
	if [ -z "$$missing" ]; then echo "setup: nothing is missing"; exit 0; fi; \
	echo "setup: missing:$$missing"; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then \
	  echo "setup: !!! CANNOT INSTALL$$missing (not root, or no apt-get): the tests that need them are skipped, and say so !!!" >&2; exit 0; fi; \
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null || \
	  echo "setup: !!! INSTALLING$$missing FAILED: the tests that need them are skipped, and say so !!!" >&2

build: ## the programs: bin/fsmcp, bin/fsmcp-media and, with libvips and a C compiler, bin/fsmcp-vips
	CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/fsmcp
	CGO_ENABLED=0 $(GO) build -ldflags '-s -w' -o $(BIN)-media ./cmd/fsmcp-media
	@missing=; try=$$(mktemp -d); \
	if ! pkg-config --exists vips 2>/dev/null; then missing="libvips is not installed"; \
	elif ! printf '#include <stdlib.h>\nint main(void) { return 0; }\n' | $$($(GO) env CC) -x c -o $$try/a - >/dev/null 2>&1; then \
	  missing="the C compiler $$($(GO) env CC) does not work"; fi; rm -rf $$try; \
	if [ -z "$$missing" ]; then CGO_ENABLED=1 $(GO) build -tags vips -ldflags '-s -w' -o $(BIN)-vips ./cmd/fsmcp-vips; \
	else rm -f $(BIN)-vips; echo "build: $$missing: without fsmcp-vips"; fi

PREFIX ?= /usr/local
INSTALLED := $(DESTDIR)$(PREFIX)/bin
install: build ## the programs, into PREFIX/bin (/usr/local/bin)
	@mkdir -p $(INSTALLED)
	@for f in $(BIN)*; do install -m 755 $$f $(INSTALLED)/ && echo "install: $(INSTALLED)/$${f##*/}"; done

uninstall: ## removes what make install put into PREFIX/bin; settings and history stay
	@for f in fsmcp fsmcp-media fsmcp-vips; do rm -f $(INSTALLED)/$$f; done

# The time of every file in the archives: that of the commit.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
man: ## the manual pages, into man/
	@mkdir -p man && rm -f man/*.1
	FSMCP_MAN=$(abspath man) SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) $(GO) test -count=1 -run '^TestManual$$' ./cmd/fsmcp

release: man ## for a release: dist/ with archives, MCP bundles, npm packages and images for six systems, checksums, lists of contents; publishes nothing
	$(GO) run ./internal/release -version '$(VERSION)' -commit '$(COMMIT)' -time $(SOURCE_DATE_EPOCH) -out dist

demo: build ## to see it: a real session on sample files
	$(GO) run ./internal/demo $(BIN)

pictures: build ## after a change to what the demo prints: docs/demo.svg anew
	$(GO) run ./internal/demo -svg docs/demo.svg $(BIN) >/dev/null

comparison: ## docs/comparison.md anew: the cases of testkit with fsmcp, the official file system server and Claude Code's tools, from npm
	cd testkit && $(GO) run . -page comparison.md.tmpl -o ../docs/comparison.md servers/fsmcp.json servers/official.json servers/claude-code.json

check: ## lint, a part of test: gofmt, vet, staticcheck, tidy, known vulnerabilities
	@bad=$$(gofmt -l $$(git ls-files -c -o --exclude-standard '*.go')); [ -z "$$bad" ] || { echo "gofmt would change:"; echo "$$bad"; exit 1; }
	$(GO) vet ./...
	$(GO) mod tidy -diff
	$(GO) run honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK) ./...
	cd testkit && $(GO) vet ./... && $(GO) run honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK) ./...
	@.ci/vulncheck $(GOVULNCHECK)

# Packages whose tests wait for the most part: make quick starts them first.
WAITING := worker save lsp hooks search

# Left out of "make quick"; its tests make fewer rounds, and say so (internal/shortrun).
NOT_QUICK := cmd/fsmcp $(LONG:%=internal/%)

# Tests of the other packages that take longest: "make quick" leaves them out.
SLOW = $(shell grep -v '^\#' .ci/slow)

quick: ## after each change: vet, most unit tests, smaller, and the scripts that start one program or stand for their topic, under a minute once things are built
	@$(MAKE) --no-print-directory -j 3 -O quick-scripts quick-units quick-vet
	@echo "quick: !!! NOT TESTED: $(NOT_QUICK:cmd/fsmcp=cmd/fsmcp but for scripts that start one program or stand for their topic,), $(words $(SLOW)) slow tests (.ci/slow), the race detector, other systems (make test) !!!"

quick-scripts:
	@FSMCP_QUICK=1 $(GO) test -short -v -vet=off -run TestScripts ./cmd/fsmcp | .ci/loud

quick-units:
	@$(GO) test -short -v -vet=off -p 3 -skip '^($(subst $(SPACE),|,$(SLOW)))$$' $(WAITING:%=./internal/%) $$($(GO) list ./... | grep -v $(NOT_QUICK:%=-e /%$$)) | .ci/loud

quick-vet:
	@$(GO) vet ./...

test: setup ## before you push: everything that must hold, as the continuous integration runs it
	@$(MAKE) --no-print-directory -j 4 -O check cross wine-setup test-vips
	@$(MAKE) --no-print-directory -j 3 -O test-raced-packages test-raced-scripts test-kit
	@$(MAKE) --no-print-directory wine-part
	FSMCP_MERGES=180 FSMCP_SEARCH_TREES=10 FSMCP_SEARCH_PAIRS=10000 $(GO) test -v -vet=off -p 2 -parallel 3 -timeout 14m -skip '$(RACED)' $$($(GO) list ./... | grep -v $(LONG:%=-e /internal/%$$) $(ONLY_RACED:%=-e /internal/%$$)) | .ci/loud
	FSMCP_HOSTILE_PICTURES=4 FSMCP_HOSTILE_PDFS=3 FSMCP_HOSTILE_OFFICE=2 \
	$(GO) test -count=1 -timeout 14m -v -vet=off -run '$(ALONE)' ./internal/faults | .ci/loud -v all=1
	FSMCP_PICTURES=20 FSMCP_MAPPED_WRITES=2 FSMCP_HISTORY_MERGES=10 \
	$(GO) test -count=1 -timeout 20m -v -vet=off -p 2 -skip '$(ALONE)' $(LONG:%=./internal/%) | .ci/loud -v all=1

test-vips:
	@if pkg-config --exists vips 2>/dev/null; then CGO_ENABLED=1 $(GO) test -tags vips ./internal/media/vips; \
	else echo "test: !!! the engine on libvips is not tested: libvips is not installed !!!"; fi

test-kit:
	cd testkit && $(GO) test -count=1 -timeout 14m -v -vet=off ./... | ../.ci/loud -v all=1

# "make check" vets everything, so that these tests do not.
test-raced-packages:
	CGO_ENABLED=1 $(GO) test -v -race -vet=off -p 2 -timeout 14m $(ONLY_RACED:%=./internal/%) | .ci/loud

test-raced-scripts:
	CGO_ENABLED=1 $(GO) test -v -race -vet=off -timeout 14m -run '$(RACED)' ./cmd/fsmcp | .ci/loud

clients: export FSMCP_FULL = 1
clients: ## more than its part of test: real MCP clients, from npm, each with a script in place of a model, and real language servers
	$(GO) test -count=1 -timeout 15m -v ./internal/clienttest | .ci/loud -v all=1
	cd testkit && $(GO) test -count=1 -timeout 15m -v -run TestPage . | ../.ci/loud -v all=1

bench: build ## after a change that could cost time or memory: figures beside their bounds
	FSMCP_BENCH=full FSMCP_BIN=$(abspath $(BIN)) $(GO) test -count=1 -timeout 30m -p 1 -run TestFigures ./internal/bench ./internal/notebook -v | grep -v -e '^=== ' -e '^--- '

FUZZTIME ?= 60s
fuzz: ## after a change to a parser: every fuzz target for FUZZTIME (60s)
	@$(GO) list ./... | while read -r pkg; do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg 2>/dev/null | grep '^Fuzz'); do \
	    echo "fuzz: $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5s $$pkg || exit 1; done; done

faults: export FSMCP_FULL = 1
faults: PACKAGES += chromium:chromium
faults: setup build ## after a change to saving, locking, history, workers, permissions or what counts as shown: kills, failing calls, foreign writers, races, random walks
	FSMCP_BIN=$(abspath $(BIN)) FSMCP_ROUNDS=100 FSMCP_WRITER_EDITS=500 FSMCP_KILLS=1000 FSMCP_KILL_LARGEST=33554432 \
	FSMCP_STRACE_PER_CALL=1000 FSMCP_STRACE_CELLS=600 FSMCP_CUTS=100000 FSMCP_MULTIEDITS=500 FSMCP_MOVES=500 FSMCP_SWAP_SECONDS=20 FSMCP_RACE_SECONDS=20 FSMCP_LONG_LINE_MB=2048 FSMCP_P99_MS=5 FSMCP_PICTURES=2000 FSMCP_COORDINATES=500 FSMCP_SCREENSHOTS=2 FSMCP_WORKER_KILLS=500 FSMCP_COMPILE_KILLS=40 FSMCP_HOSTILE_PICTURES=30000 FSMCP_MUTANTS=5000 FSMCP_ATTRIBUTE_EDITS=5000 FSMCP_PDFS=40 FSMCP_HOSTILE_PDFS=1000 FSMCP_HOSTILE_OFFICE=1000 FSMCP_WALK=20000 FSMCP_SHOWN=24000 FSMCP_MAPPED_WRITES=100 \
	FSMCP_SEARCHES=100 FSMCP_SEARCH_TIMES=1000 FSMCP_SEARCH_MB=20 FSMCP_SEARCH_SPARSE_MB=6144 FSMCP_CANCEL_MS=100 \
	FSMCP_HISTORY_EDITS=1000 FSMCP_HISTORY_KILLS=200 FSMCP_HISTORY_MERGES=500 FSMCP_HISTORIES=1000 FSMCP_BROKEN_HISTORIES=50 FSMCP_CRASH_STATES=60 FSMCP_CRASH_RECOVERIES=6 FSMCP_CRASH_PAIR_STATES=12 \
	$(GO) test -count=1 -timeout 90m -v ./internal/faults | grep -v -e '^=== '
	CGO_ENABLED=1 $(GO) test -race -timeout 30m ./cmd/fsmcp
	$(GO) test -count=1 -timeout 20m ./internal/media/pdf ./internal/release
	FSMCP_RACE_FULL=1 CGO_ENABLED=1 $(GO) test -race -timeout 20m $(RACED_PACKAGES:%=./internal/%)
	FSMCP_FAULTS_N=500 $(GO) test -count=1 -timeout 20m ./internal/save
	FSMCP_MERGES=5400 $(GO) test -count=1 -timeout 20m -run TestMergeAgreesWithGit ./internal/history
	FSMCP_SEARCH_PAIRS=1000000 $(GO) test -count=1 -timeout 20m -v -run TestGeneratedExpressions ./internal/search/match | grep -v -e '^=== '
	FSMCP_SEARCH_PAIRS=1000000 FSMCP_SEARCH_TREES=300 FSMCP_SEARCH_SECONDS=20 FSMCP_SEARCH_TIMES=1000 FSMCP_SEARCH_MB=20 FSMCP_SEARCH_SPARSE_MB=6144 FSMCP_SEARCH_LINE_MB=2048 $(GO) test -count=1 -timeout 20m -v ./internal/search | grep -v -e '^=== '
	$(GO) test -tags fsys_portable -timeout 20m -run TestScripts ./cmd/fsmcp
	FSMCP_NOTEBOOK_WALKS=20000 FSMCP_NOTEBOOK_ALL=1 \
	$(GO) test -count=1 -timeout 60m -v -run 'TestRandomWalks|TestEditsLoadInPython|TestEditsStayValid|TestMemoryFollowsTheFile' ./internal/notebook/... | grep -v -e '^=== '
	FSMCP_LIBREOFFICE=1 $(GO) test -count=1 -timeout 20m -v -run TestLikeLibreOffice ./internal/media/office | grep -v -e '^=== '
	FSMCP_HOSTILE_SERVERS=1 $(GO) test -count=1 -timeout 10m -run TestHostileLanguageServers ./cmd/fsmcp
	FSMCP_LSP_EDITS=50 $(GO) test -count=1 -timeout 10m -v -run 'WithGopls' ./internal/clienttest | grep -v -e '^=== '
	FSMCP_PERM_PAIRS=400000 FSMCP_PERM_CASES=100000 $(GO) test -count=1 -timeout 20m -v -run '^(TestLikeGit|TestLikeGitByHand|Test.*(Loosens|Loosen|BeatsDeny|StrictestName|LinesHelp|IsNaive))$$' ./internal/perm | grep -v -e '^=== '
	@$(MAKE) --no-print-directory wine

wine-setup:
	@.ci/wine setup

wine: wine-setup ## after a change of what Windows does: the unit tests, all scripts and attacks with the program for Windows under Wine, which it installs
	@$(MAKE) --no-print-directory wine-units
	FSMCP_WINE=all $(GO) test -count=1 -timeout 30m -v -run TestScriptsUnderWine ./cmd/fsmcp | .ci/loud -v all=1
	FSMCP_WINE=all FSMCP_WINE_KILLS=200 FSMCP_WINE_KILL_MB=50 FSMCP_WINE_EDITS=500 FSMCP_WINE_HOLDS=500 FSMCP_WINE_WRITES=500 \
	$(GO) test -count=1 -timeout 60m -v -run TestWine ./internal/faults | .ci/loud -v all=1

# The attacks on the program for Windows whose end does not hang on what another program does at the same
# moment: "make wine" makes all of them, and more rounds of each.
WINE_ATTACKS := Kills Servers ForeignHolds Hooks HookEndsWithServer Metadata DenyRules HardLinks
SPACE := $(subst ,, )

# Packages whose tests run the whole program, or look at the sources: no unit tests of Windows.
NOT_UNITS := cmd/fsmcp $(addprefix internal/,archtest bench clienttest demo faults release)

wine-units: wine-setup ## a part of wine: the unit tests, with fewer rounds, as programs for Windows under Wine
	@.ci/wine where >/dev/null || exit 0; export GOOS=windows CGO_ENABLED=0; \
	.ci/wine stay $(GO) test -short -count=1 -vet=off -p 2 -timeout 20m -v -exec '$(CURDIR)/.ci/wine run' \
	$$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v $(NOT_UNITS:%=-e /%$$)) | .ci/loud

wine-part: wine-setup ## a part of test, less than make wine: quick scripts and the attacks with few rounds, with the program for Windows under Wine
	FSMCP_WINE=part $(GO) test -count=1 -timeout 10m -vet=off -v -run '^(TestScriptsUnderWine|TestWine($(subst $(SPACE),|,$(WINE_ATTACKS))))$$' ./cmd/fsmcp ./internal/faults | .ci/loud -v all=1

cross: ## a part of test: build and vet for the other systems, and test what this system can run of them
	@for target in darwin/arm64 windows/amd64; do \
	  echo "cross: $$target"; export GOOS=$${target%/*} GOARCH=$${target#*/} CGO_ENABLED=0; \
	  $(GO) build -ldflags '-s -w' -o /dev/null ./cmd/fsmcp && $(GO) vet ./internal/... ./cmd/... || exit 1; done
	@echo "cross: linux/arm64"; GOARCH=arm64 CGO_ENABLED=0 $(GO) build -ldflags '-s -w' -o /dev/null ./cmd/fsmcp
	@echo "cross: the files of the other systems, tried out on this one"
	$(GO) test -tags fsys_portable ./internal/fsys ./internal/save/... ./internal/access
	$(GO) test -tags fsys_portable -run 'Glob|Grep|Hidden|Special|Ignore' ./internal/search

clean: ## remove what was built
	rm -rf bin coverage dist man
