# shellcheck shell=bash
# Sourced by the scripts beside it; not a script of its own.
# Stands in the repository's top folder afterwards, and has `swift` in PATH where it is installed.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# The programs that a family has.
released=(smilepile smilepiled smilepile-image-worker smilepile-film-worker smilepile-web)

# Modules of tests that run under Thread Sanitizer: what they test is shared between threads.
# shellcheck disable=SC2034 # for the scripts that source this
shared_by_threads=(
    ExecutorsTests ServiceMeshTests DatabaseTests SQLiteCatalogueTests ControlSocketTests HTTPClientTests
    LibraryServicesTests ImportingTests BackupsTests ExchangeTests SmilePileTests StressTests
)

# Suites of these modules that ask what comes of something, and not what becomes of two that meet: documents and dialects,
# hostile bytes, dates, words, tables of one connection. What they run is run under Thread Sanitizer by the others, in a
# quarter of the time that these took there; CI runs them without it, and Scripts/test-races with it.
# shellcheck disable=SC2034
one_at_a_time=(
    BackupsTests/{BackedUpFile,Backup,BackupFolder,BackupKeeping,BackupReaders,BackupStory,FilmBackup,ForeignBackup}Tests
    BackupsTests/{ForeignDocument,HostileBackup,LongLists,NumberedCategory,PhoneBackup,RepackedBackup}Tests
    BackupsTests/{RestoreCompletion,RestoreDifference,RestoreOfDamaged,RestoreOfSealed,RestoreReplacement}Tests
    BackupsTests/{SalvagedBackup,SealedBackup,SealedSidecar}Tests
    BackupsTests/{StagedPhotos,UnfinishedBackup,UnpackedBackup}Tests
    ExchangeTests/{GroupBackup,GroupTime}Tests
    ImportingTests/{DateRevision,FileCopy,FilmImport,HostileMigration,HostileSchema,ImportReceipt,KeptSidecar}Tests
    ImportingTests/{KeptUnseen,LeftBeside,LegacyValue,LibrarySidecarImport,LocationImport,Migration,MigrationFuzz}Tests
    ImportingTests/{MovingPhoto,Originals,PhotoPixels,Redate,Sheet,SidecarImport,SourceFile,StoredPreview,Thumbnail}Tests
    LibraryServicesTests/{Camera,Date,FilePath,HostileValue,PhotoSearch,PhotoWords,SealingKey,SearchIndex}Tests
    SmilePileTests/{CleaningUp,Erasure,FailedCommit,FilteredMessage,ForeignName,Guide,InterruptedJobs,MethodTable}Tests
    SmilePileTests/{OwnFiles,Role,Shortage,WaitingJobs}Tests
    SQLiteCatalogueTests/{CameraCatalogue,CatalogueMigration,FoldedNames,ManyPhotos,ReviewMerge,SearchMark,SearchPlace}Tests
    SQLiteCatalogueTests/{RepeatingCatalogue,RepositoryContract,SearchedNames,SearchPlan,UnreadablePage}Tests
)

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "$(basename "$0"): $*"
    exit 1
}

# Prints a regular expression that any of the arguments matches.
alternatives() { (IFS='|' && printf '(%s)' "$*"); }

# Prints one summary of the test runs in these logs, as the test runner writes it, with the tests of all. Fails unless every
# run has passed.
sum_up() {
    local log
    for log in "$@"; do grep -aE '^[^ ]+ Test run with [0-9]+ tests? ' "$log" | tail -n 1 || true; done |
        awk -v runs=$# '
            # The number behind a word, as in "with 5 issues".
            function number(word, what) {
                return match($0, word " [0-9.]+ " what) ? substr($0, RSTART + length(word) + 1) + 0 : 0
            }
            {
                tests += number("with", "test")
                suites += number("in", "suite")
                issues += number("with", "issue")
                seconds = number("after", "second")
                if (seconds > longest) longest = seconds
                if (/ passed after /) passed++
            }
            END {
                if (NR < runs) print runs - NR " of " runs " test runs have not come to their end."
                printf "%s Test run with %d tests in %d suites %s after %.3f seconds", passed == runs ? "✔" : "✘", tests,
                    suites, passed == runs ? "passed" : "failed", longest
                print (issues > 0 ? " with " issues " issue" (issues > 1 ? "s" : "") : "") "."
                exit passed != runs
            }'
}

# Prints the comment at the top of a script: its help.
usage() { sed -n '2,/^$/ { /^#/ s/^# \{0,1\}//p }' "$1"; }

# Finds the compiler where installers put it, also when a login shell has not set PATH.
find_swift() {
    command -v swift >/dev/null && return
    local folder
    for folder in /opt/swift/usr/bin "${HOME:-/root}/.local/share/swiftly/bin" "${HOME:-/root}/.swiftly/bin" \
        /usr/local/swift/usr/bin /usr/local/swift/bin /usr/share/swift/usr/bin /usr/libexec/swift/bin; do
        if [[ -x $folder/swift ]]; then
            PATH="$folder:$PATH"
            export PATH
            return
        fi
    done
    fail "Swift is not installed. Get version 6.2 or later from https://www.swift.org/install/linux/," \
        "then run this again; if it is installed somewhere unusual, put its folder into PATH."
}

# Prints where a program is that comes with the toolchain, beside swift itself: docc, llvm-cov.
toolchain_program() {
    local resources program
    resources=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
    program=${resources%/lib/swift}/bin/$1
    [[ -x $program ]] || program=$(command -v "$1") || fail "This Swift comes without $1."
    printf '%s\n' "$program"
}

# Prints the commit that stands here, with a plus sign where the files differ from it; nothing where this is no clone.
commit_of_this() {
    local commit
    commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || return 0
    git diff --quiet HEAD -- 2>/dev/null || commit+=+
    printf '%s\n' "$commit"
}

# Builds the programs as they are released, with all that a debugger asks for, and says in `binaries` where they are.
# Arguments are the targets that are wanted; without any, all.
#
# Swift's own libraries are linked into each of them, where the toolchain brings them in that form: they start in half
# the time, each process takes 4 MB less, and they run where Swift is not installed. With lld, because gold prints a
# warning about a function inside Foundation at every link.
build_release() {
    local flags=(-c release) resources SMILEPILE_ONLY SMILEPILE_COMMIT
    if (($# > 0)); then
        SMILEPILE_ONLY=$(IFS=, && echo "$*")
        export SMILEPILE_ONLY
    fi
    SMILEPILE_COMMIT=$(commit_of_this)
    [[ -z $SMILEPILE_COMMIT ]] || export SMILEPILE_COMMIT
    resources=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
    if [[ -e ${resources}_static/linux/static-stdlib-args.lnk ]]; then
        flags+=(--static-swift-stdlib -Xswiftc -use-ld=lld)
    fi
    swift build "${flags[@]}" >&2
    # shellcheck disable=SC2034 # for the script that called
    binaries=$(swift build "${flags[@]}" --show-bin-path)
}

# Puts the programs that `build_release` made into .build/programs, without their symbols, and says in `programs` where
# that is. The symbols stand beside each as PROGRAM.debug, which it names: gdb, perf and Swift's backtraces find them
# there, and a crash report of a machine that has none can be read here, by the build id.
#
# Copies, because swift build would link again what it finds changed.
strip_programs() {
    local program objcopy resources
    resources=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
    objcopy=${resources%/lib/swift}/bin/llvm-objcopy
    [[ -x $objcopy ]] || objcopy=$(command -v objcopy) || fail "There is no objcopy. Install the package binutils."
    programs=$PWD/.build/programs
    mkdir -p "$programs"
    for program in "${released[@]}"; do
        [[ $programs/$program -nt $binaries/$program ]] && continue
        "$objcopy" --only-keep-debug "$binaries/$program" "$programs/$program.debug"
        # Not over a program that may be running.
        (cd "$programs" && "$objcopy" --strip-all --add-gnu-debuglink="$program.debug" \
            "$binaries/$program" "$program.new" && mv -f "$program.new" "$program")
    done
}

# Puts what an installation has below FOLDER, as it stands on a machine below PREFIX: programs, units, man pages, completions,
# documentation. The programs are linked anew for that (Scripts/link), and run: they make the rest.
#   lay_out FOLDER PREFIX UNITS
# UNITS is where the system's units belong, and empty where none do. Dates in the pages are those of SOURCE_DATE_EPOCH.
lay_out() {
    local folder=$1 prefix=$2 units=$3 shell name unit page
    local share=$folder$prefix/share smilepile=$folder$prefix/bin/smilepile documents
    documents=$share/doc/smilepile
    Scripts/link "$folder$prefix" "$prefix"
    chmod 644 "$folder$prefix"/lib/smilepile/*.so
    install -d "$share/man/man1" "$share/man/man8"
    for page in smilepile.1 smilepiled.8 smilepile-web.8; do
        "$smilepile" man-page "${page%.*}" >"$share/man/man${page##*.}/$page"
    done
    for shell in bash-completion/completions/smilepile zsh/site-functions/_smilepile fish/vendor_completions.d/smilepile.fish; do
        install -d "$share/$(dirname "$shell")"
        name=${shell%%/*}
        "$smilepile" completions "${name%-completion}" >"$share/$shell"
    done
    if [[ -n $units ]]; then
        install -d "$folder$units"
        for unit in smilepiled@.socket smilepiled@.service smilepile-web@.service; do
            "$smilepile" service unit "$unit" --programs "$prefix/bin" >"$folder$units/$unit"
        done
    fi
    install -D -m 644 -t "$documents" README.md LICENSE \
        Sources/SmilePile/SmilePile.docc/{Manual,Promises}.md Sources/LibraryModel/LibraryModel.docc/Licences.md \
        Sources/ControlSocket/ControlSocket.docc/Protocol.md
    # Not as Changes.md, which Debian's tools would take for the changelog of the package.
    install -m 644 Sources/LibraryModel/LibraryModel.docc/Changes.md "$documents/NEWS.md"
    install -D -m 644 -t "$documents/examples" Scripts/examples/*
}
