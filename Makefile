# wiregauge: the commands of the project. `make bench` measures, `make test`
# proves; both set the machine up first.

# Everything that is generated stays in the tree's own folders.
export WIREGAUGE_BUILD ?= $(CURDIR)/build
WIREGAUGE = $(or $(CARGO_TARGET_DIR),target)/release/wiregauge
# Where `make bench` leaves run.json and report.html.
RESULT ?= .

# The lanes of the tests, by file: what builds runners for each codec; what builds FMUs and other
# programs; what compiles holders in all languages; what starts hosts and machines; what is killed, cut
# off or told nonsense; what starts engines. The last three mostly wait. What takes seconds once it is
# compiled lies in tests/fast of each crate.
CODECS = conformance in_place java_damage languages lifetimes measuring octets_and_rejections packed_fields uper \
	preset_languages
BUILDS = against archives arrow_languages bundle cloudini contributing corpus cosim cosim_samples coupling coupling_faults \
	draco explain fixed_plan footprint instructions libraries managed packages players reduced_languages \
	targets verify wheel windows
HOLDERS = generate generated protobuf
MACHINE = bus bus_background bus_emulated bus_headroom bus_realtime bus_samples bus_scenario bus_topics chain
FAULTS = bus_fault_matrix bus_faults bus_return faults flood trace_bus
TRANSPORTS = bus_codecs bus_engines bus_in_place bus_roudi bus_security bus_silkit
# Those that mostly wait.
WAITING = machine $(MACHINE:%=--test %) + faults $(FAULTS:%=--test %) + transports $(TRANSPORTS:%=--test %)
TEST = scripts/test

.PHONY: all bench bench-aa bus dist targets test test-dist test-fast test-random test-builds test-machine test-packages \
	test-archives test-targets test-engines test-cluster test-wheel test-windows test-releases check deny setup build lock clean

all: build

# Measures the LiDAR message in every codec; prints the table and writes the
# page. BENCH=--quick for a minute instead of five.
# A row that fails says why in both, and the exit status tells it in the end.
bench: setup build
	$(WIREGAUGE) codecs $(BENCH) -o $(RESULT)/run.json; status=$$?; \
	case $$status in 0 | 1 | 3) $(WIREGAUGE) report $(RESULT)/run.json -o $(RESULT)/report.html && \
	echo "the page is $(RESULT)/report.html" || status=$$? ;; esac; exit $$status

# Builds the transports that take minutes to compile, so that `wiregauge bus`
# need not do so on first use.
bus: setup build
	$(WIREGAUGE) bus transports --build

# The bus beside iperf3, ddsperf and a bare loop, trace files and their columns beside the
# tools that people use, generated holders beside the libraries that they can replace, and
# rows of `codecs` beside programs by hand: what is aimed at, as ratios within one run.
# ONLY=lockstep, ONLY=scale, ONLY=traces, ONLY=columns, ONLY=holders or ONLY=rows for a part, ROWS=prost,rkyv for some
# rows; the emulated link wants root.
targets: setup build
	case "$(ONLY)" in "" | traces) cargo bench --locked -p wiregauge --bench traces ;; esac
	case "$(ONLY)" in "" | columns) cargo bench --locked -p wiregauge-trace-edit --bench columns ;; esac
	case "$(ONLY)" in "" | holders) cargo bench --locked -p wiregauge --bench holders ;; esac
	case "$(ONLY)" in "" | rows) cargo bench --locked -p wiregauge --bench rows -- $(ROWS) ;; esac
	case "$(ONLY)" in traces | columns | holders | rows) ;; *) cargo bench --locked -p wiregauge-bus --bench targets -- $(ONLY) ;; esac

# What `compare` says of the same binary, quiet and beside a load on all
# processors: about half an hour; RUNS=3 for fewer comparisons, ONLY=quiet for one
# half, AA='--quick --codecs prost' for a part.
bench-aa: setup build
	RUNS=$(or $(RUNS),10) cargo bench --locked -p wiregauge --bench aa -- $(ONLY)

# Everything that must hold before a change goes in. What fails does not keep the
# rest from being tested: all failures are listed at the end.
# What mostly waits runs beside what computes.
test: setup check
	cargo test --locked --workspace --no-run
	$(TEST) codecs $(CODECS:%=--test %) + builds $(BUILDS:%=--test %) + fast --lib --bins --test fast + \
		holders $(HOLDERS:%=--test %) + $(WAITING) + documentation --doc

# Unit, golden and property tests: under two minutes once all is compiled.
test-fast:
	$(TEST) fast --lib --bins --test fast

# The tests with random input, with seeds that no run had. CASES=5 for so many schemas.
test-random: setup
	WIREGAUGE_SEED=new WIREGAUGE_CASES=$(or $(CASES),1) $(TEST) random --lib --bins --test fast --test conformance \
		--test generated --test protobuf

test-builds: setup
	WIREGAUGE_ENGINE_PROFILE=release WIREGAUGE_ENCODINGS=all $(TEST) codecs $(CODECS:%=--test %) + builds $(BUILDS:%=--test %) + \
		holders $(HOLDERS:%=--test %)

test-machine: setup
	$(TEST) $(WAITING)

# Rows for other architectures: downloads their compilers and libraries.
test-targets: setup
	$(TEST) targets --test targets --test bundle -- --ignored

# What other projects take of this one, where it downloads or compiles much: Conan, Maven, Gradle,
# Bazel, and all that cargo asks of crates that are published.
test-packages: setup
	$(TEST) packages --test packages -- --ignored

# The packed field's headers, generated holders and an FMU, compiled for Windows and run under Wine:
# apt-get install g++-mingw-w64-x86-64-posix wine wine64.
test-windows: setup
	$(TEST) windows --test windows -- --ignored

# README's two commands in bare roots of Debian releases: as root, as a user, twice,
# without a network. SUITES=trixie for one of them; wants root and mmdebstrap.
test-releases:
	scripts/releases $(SUITES)

# The packages of a release, in dist/, with their sizes and hashes. ONLY=deb for one kind,
# ARCHITECTURES=x86_64 for one architecture.
dist:
	@scripts/dist $(ONLY)

# The packages as their users meet them, in bare roots: installed, run, purged; and built again
# to the same bytes. ONLY=debian for a part; wants root, mmdebstrap and lintian.
test-dist:
	scripts/dist-test $(ONLY)

# The wheel WHEEL, as scripts/dist-wheel packs it: installed by pip in bare roots of Debian
# releases, by uv and pipx here, and started on the oldest glibc. Wants root and mmdebstrap.
test-wheel:
	scripts/test-wheel $(WHEEL) $(SUITES)

# Recordings as tables on Spark, Ray and Daft, each with several processes of which one is killed.
# Downloads the engines once: 800 MB. CHECKS=check_ray_has_the_rows_of_a_loop for a part.
test-engines: setup
	scripts/test-engines $(CHECKS)

# The jobs of examples/cluster on Slurm, where this machine is four nodes: one is killed, and a job is
# cancelled. Wants root; installs Slurm. CHECKS=check_a_job_measures for a part.
test-cluster: setup
	scripts/test-cluster $(CHECKS)

# Recordings in archives, by the program that reads them: from a server that is faulty on purpose,
# and from a bucket of moto. Two minutes of a processor to build it.
test-archives: setup
	$(TEST) archives --test archives -- --ignored && scripts/test-archives $(CHECKS)

# Format, lint, and the crates' documentation, whose links must lead somewhere. With examples,
# dependencies have the features that they have for clippy, and are not compiled once more.
check:
	rustfmt --config-path rustfmt.toml --edition 2021 --check $$(git ls-files "*.rs")
	clang-format --dry-run -Werror $$(git ls-files "*.c" "*.cpp" "*.hpp")
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --document-private-items \
		--lib --bins --examples

# Licences, sources and advisories of all dependencies, by deny.toml. Wants
# cargo-deny, and the network for the advisories.
deny:
	@scripts/deny

build:
	cargo build --locked --release

# Locks the measured crates after a change of runners/rust/Cargo.toml, in a
# folder that looks like the build folder, and changes no other version.
lock:
	folder=$$(mktemp -d) && cp -r runners/flatbuffers runners/packed runners/runner runners/rust $$folder && \
	cp -r crates/runner/src $$folder/runner && cp -r packed/rust/src $$folder/packed && \
	mkdir $$folder/rust/src && touch $$folder/rust/src/lib.rs && \
	cargo update --workspace --manifest-path $$folder/rust/Cargo.toml && \
	cp $$folder/rust/Cargo.lock runners/rust/ && rm -r $$folder

# System packages, where they are missing.
setup:
	@scripts/setup

clean:
	rm -rf build target report.html run.json
