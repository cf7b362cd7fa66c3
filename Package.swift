// swift-tools-version: 6.2
import PackageDescription

// Floors, from the bottom: C libraries; Executors and ServiceMesh (pure Swift, know nothing of photos);
// Database, Imaging, ZipArchive (one C library or two each); LibraryModel (values and messages); LibraryStorage and what is
// behind it; LibraryServices (the stores) and the rooms above it, Importing, Backups, Exchange; SmilePile (all of them put
// together); ControlSocket (JSON-RPC, knows the mesh, not photos); executables on top.
// An arrow points down only: a target may depend on what stands above it in this file, never below.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

/// A C library from the system: a module map and, where Swift cannot import a function as it is, a shim header.
///
/// `headers` is the package of what its own headers include, where installing it alone does not bring that.
func system(_ name: String, pkgConfig: String? = nil, apt: String, headers: String? = nil) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt] + (headers.map { [$0] } ?? []))])
}

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func program(_ name: String, path: String? = nil, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "SmilePile",
    products: [
        .library(name: "SmilePile", targets: ["SmilePile"]),
        .library(name: "ServiceMeshTesting", targets: ["ServiceMeshTesting"]),
        .executable(name: "smilepiled", targets: ["smilepiled"]),
        .executable(name: "smilepile", targets: ["smilepile"]),
        .executable(name: "smilepile-web", targets: ["smilepile-web"]),
        .executable(name: "smilepile-image-worker", targets: ["smilepile-image-worker"]),
        .executable(name: "smilepile-film-worker", targets: ["smilepile-film-worker"]),
        .executable(name: "smilepile-bench", targets: ["smilepile-bench"]),
    ],
    targets: [
        // C libraries
        system("CSQLite", apt: "libsqlite3-dev"),
        system("CGD", apt: "libgd-dev"),
        system("CHEIF", apt: "libheif-dev"),
        system("CFreeType", pkgConfig: "freetype2", apt: "libfreetype-dev"),
        system("CLCMS", apt: "liblcms2-dev"),
        system("CZimg", apt: "libzimg-dev"),
        system("CTIFF", apt: "libtiff-dev"),
        system("CWebP", apt: "libwebp-dev"),
        system("CArchive", apt: "libarchive-dev"),
        system("CCrypto", apt: "libssl-dev"),
        system("CZlib", apt: "zlib1g-dev"),
        system("CDeflate", apt: "libdeflate-dev"),
        system("CXXHash", apt: "libxxhash-dev"),
        system("CUtf8proc", apt: "libutf8proc-dev"),
        system("CSodium", apt: "libsodium-dev"),
        system("CSystemd", apt: "libsystemd-dev"),
        system("CGnuTLS", apt: "libgnutls28-dev"),
        // Its TLS is GnuTLS, whose package its own brings with it.
        system("CMicroHTTPD", apt: "libmicrohttpd-dev"),
        system("CQRCode", apt: "libqrencode-dev"),
        system("CCurl", apt: "libcurl4-openssl-dev"),
        system(
            "CChafa", pkgConfig: "chafa", apt: "libchafa-dev",
            headers: "libglib2.0-dev"),
        .target(
            name: "CJPEG", cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("jpeg")]),
        .target(
            name: "CPNG", cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("png")]),
        // JPEG XL, for the image worker: C++ behind C as well. apt: "libjxl-dev"
        .target(
            name: "CJXL", cxxSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("jxl")]),
        // JPEG 2000, for the image worker. apt: "libopenjp2-7-dev"
        .target(
            name: "CJ2K", cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("openjp2")]),
        // Cameras' raw files, for the image worker: C++ behind C. apt: "libraw-dev"
        .target(
            name: "CRaw", cxxSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("raw")]),
        // The configuration's file: C++ behind C as well. apt: "libtomlplusplus-dev"
        .target(
            name: "CTOML", cxxSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("tomlplusplus")]),
        // EXIF and XMP, for the image worker: C++ behind C, so that no exception meets a Swift frame. apt: "libexiv2-dev"
        .target(
            name: "CExiv2", cxxSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("exiv2")]),
        // Films, for the film worker. The first brings libavcodec and libavutil. apt: "libavformat-dev"
        // apt: "libswscale-dev"
        .target(
            name: "CFilm", cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: ["avformat", "avcodec", "swscale", "avutil"].map { .linkedLibrary($0) }),
        // Starting a worker, and what a worker does to itself
        .target(name: "CWorker", cSettings: [.treatAllWarnings(as: .error)]),
        .target(
            name: "CCell", cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("seccomp")]),
        .target(name: "CLinux", cSettings: [.treatAllWarnings(as: .error)]),
        // SMILEPILE_COMMIT=COMMIT says what is built; Scripts/common.bash sets it for what is released.
        .target(
            name: "CRelease",
            cSettings: [.treatAllWarnings(as: .error)]
                + (Context.environment["SMILEPILE_COMMIT"].map { [.define("SMILEPILE_COMMIT", to: $0)] } ?? [])),
        // The files of the web page as bytes of the program
        .target(name: "CWebPage", cSettings: [.treatAllWarnings(as: .error)]),
        // Stands in front of the C library's open: for a program that may open no files, and for no other
        .target(name: "CWorkQueue", cSettings: [.treatAllWarnings(as: .error)]),
        // What the fault campaign and its shim say to each other: a header. Scripts/faults compiles the shim beside it.
        .systemLibrary(name: "CFaults"),

        // Floors
        module("Executors", ["CLinux"]),
        // Numbers from a seed
        module("Randomness"),
        // Dates as files write them
        module("DateTexts"),
        // What stands beside a picture, and in its name: functions of names and bytes
        module("Sidecars", ["DateTexts"]),
        module("ServiceMesh", ["Randomness"]),
        // How texts are made alike that a person takes for one
        module("TextFolding", ["CUtf8proc"]),
        // File system calls with typed errors, and files that somebody else has named
        module("Files", ["ServiceMesh", "CLinux"]),
        // The configuration's file, and which of its values count
        module("Configuring", ["ServiceMesh", "Files", "CLinux", "CTOML"]),
        // Lists that are too long for memory
        module("Scratch", ["ServiceMesh", "Executors", "Files"]),
        module("Database", ["Executors", "CSQLite"]),
        // The daemon links the pool alone: no parser of hostile files is in its address space, and neither
        // Foundation nor threads are in the worker's.
        module("ImageWorkerProtocol", ["DateTexts"]),
        module(
            "PhotoConversion",
            [
                "DateTexts", "ImageWorkerProtocol", "CLinux", "CCell", "CGD", "CJPEG", "CPNG", "CHEIF", "CExiv2",
                "CLCMS", "CZimg",
                "CTIFF", "CWebP", "CJXL", "CJ2K", "CRaw", "CCrypto", "CZlib", "CFreeType",
            ]),
        // Films, for a worker of their own: what the one for pictures does not load
        module("FilmConversion", ["DateTexts", "ImageWorkerProtocol", "PhotoConversion", "CFilm", "CCell"]),
        module("Imaging", ["ImageWorkerProtocol", "ServiceMesh", "Executors", "CLinux", "CWorker", "CCrypto"]),
        module(
            "ZipArchive",
            ["Files", "Scratch", "Executors", "TextFolding", "CArchive", "CCrypto", "CDeflate", "CXXHash"]),
        // Keys, sealed values and hashes of PINs: libsodium in Swift's terms. Only here is a key ever in hand.
        module("Sealing", ["Files", "ServiceMesh", "Executors", "CSodium"]),
        // Certificates for the devices of a home, and the process that keeps what signs them
        module("HomeAuthority", ["ServiceMesh", "Files", "CLinux", "CGnuTLS"]),
        // Another machine's HTTP: it knows requests and answers, and nothing of photos
        module("HTTPClient", ["ServiceMesh", "CLinux", "CCurl"]),
        module("LibraryModel", ["DateTexts", "ServiceMesh", "TextFolding", "CRelease"]),
        // The Android app's own database
        module("AndroidDatabase", ["LibraryModel", "ImageWorkerProtocol", "ServiceMesh", "Files", "Database"]),
        // The border between the rules and how a library is kept, and one way to keep it: a catalogue and a folder
        module("LibraryStorage", ["DateTexts", "LibraryModel", "ServiceMesh", "Files", "TextFolding"]),
        module(
            "SQLiteCatalogue", ["LibraryStorage", "LibraryModel", "ServiceMesh", "Files", "TextFolding", "Database"]),
        module("PhotoFolder", ["LibraryStorage", "LibraryModel", "ServiceMesh", "Files", "CLinux"]),
        // The stores, and what the modules above share
        module(
            "LibraryServices",
            [
                "LibraryStorage", "LibraryModel", "ServiceMesh", "Executors", "Files", "Imaging", "Scratch", "Sealing",
                "Sidecars", "TextFolding", "ZipArchive",
            ]),
        // Pictures on their way in, and their thumbnails
        module(
            "Importing",
            [
                "LibraryServices", "LibraryStorage", "LibraryModel", "ServiceMesh", "Executors", "Files",
                "AndroidDatabase", "Imaging", "ImageWorkerProtocol", "Scratch", "Sidecars", "TextFolding", "ZipArchive",
                "CLinux",
            ]),
        // What a backup's file says, in each dialect
        module(
            "BackupFormats",
            [
                "LibraryServices", "LibraryStorage", "LibraryModel", "ServiceMesh", "Executors", "Files",
                "ImageWorkerProtocol", "Scratch", "Sealing", "Sidecars", "ZipArchive", "CLinux",
            ]),
        module(
            "Backups",
            [
                "BackupFormats", "Importing", "LibraryServices", "LibraryStorage", "LibraryModel", "ServiceMesh",
                "Executors", "Files", "Scratch", "Sealing", "Sidecars", "ZipArchive", "CLinux",
            ]),
        // Groups and reviews that several machines have in common
        module(
            "Exchange",
            [
                "Importing", "LibraryServices", "LibraryStorage", "LibraryModel", "ServiceMesh", "Executors", "Files",
                "HTTPClient", "Imaging", "ZipArchive", "CLinux",
            ]),
        // Galleries for people without a device
        module(
            "Links",
            [
                "Importing", "LibraryServices", "LibraryStorage", "LibraryModel", "ServiceMesh", "Executors", "Imaging",
                "ImageWorkerProtocol", "Sealing",
            ]),
        // What a program embeds
        module(
            "SmilePile",
            [
                "Importing", "Backups", "Exchange", "Links", "LibraryServices", "LibraryStorage", "SQLiteCatalogue",
                "PhotoFolder", "LibraryModel", "ServiceMesh", "Executors", "Files", "Imaging", "Scratch", "Sealing",
            ]),
        module("ControlSocket", ["ServiceMesh", "Randomness", "CLinux"]),
        // What a phone's camera reads, for the terminal and for the page
        module("QRCodes", ["CQRCode"]),
        // HTTP in front of messages: it knows the mesh's words, and nothing of photos
        module(
            "WebServer",
            [
                "ControlSocket", "ServiceMesh", "Executors", "QRCodes", "CLinux", "CMicroHTTPD", "CCell",
                "CWorkQueue",
            ]),
        // The page that a browser shows
        .target(
            name: "WebPage", dependencies: ["WebServer", "CWebPage", "CCrypto", "CZlib"], exclude: ["Resources"],
            swiftSettings: strict),
        // For tests: seeded runs of meshes and databases, and a checker of their histories
        module("ServiceMeshTesting", ["ServiceMesh", "Executors", "Randomness"]),
        // A real browser, for tests of the page and for measuring it
        module("Browser", ["ServiceMesh"]),
        // A generated album, for a first look, for tests and for measurements
        module("SampleAlbum", ["Randomness", "CGD"]),
        // What commands are made of: syntax, output, terminals, and the way to a daemon
        module(
            "CommandLineInterface",
            [
                "ControlSocket", "Configuring", "LibraryModel", "ServiceMesh", "Files", "Executors", "CLinux", "CChafa",
            ]),
        // Photos on their way out, into a folder
        module(
            "Exporting", ["CommandLineInterface", "LibraryModel", "ServiceMesh", "Sidecars", "TextFolding", "CLinux"]),
        // Assistants that ask the library, over standard input
        module("Assistants", ["CommandLineInterface", "LibraryModel", "ServiceMesh", "Executors"]),
        // The programs as services, started with the machine
        module("Supervision", ["CommandLineInterface"]),
        // Whether all is well: the installation, the machine, the library
        module(
            "Diagnosis",
            [
                "CommandLineInterface", "Supervision", "Sealing", "ControlSocket", "Configuring", "LibraryModel",
                "ServiceMesh", "Files", "CLinux",
            ]),
        // The table of commands, and all that have no module of their own
        module(
            "Commands",
            [
                "CommandLineInterface", "Exporting", "Assistants", "Supervision", "Diagnosis", "ControlSocket",
                "Configuring", "LibraryModel", "ServiceMesh", "Files", "QRCodes",
            ]),

        // What measuring and the campaigns share: programs under test, their libraries, connections that keep accounts
        module(
            "BenchSupport", ["SmilePile", "LibraryModel", "ServiceMesh", "Executors", "SampleAlbum", "Randomness"]),
        // Clients that misbehave, all at once
        module(
            "StressCampaign",
            [
                "BenchSupport", "SQLiteCatalogue", "LibraryModel", "ControlSocket", "ServiceMesh", "ZipArchive",
                "SampleAlbum",
            ]),
        // A daemon that is killed, or whose system calls fail, at each single step
        module(
            "FaultCampaign",
            [
                "BenchSupport", "SmilePile", "SQLiteCatalogue", "LibraryModel", "ControlSocket", "ServiceMesh",
                "ZipArchive", "SampleAlbum", "CFaults",
            ]),

        // Programs: wiring only
        // The daemon: opens a library and serves its messages on a socket until it is told to stop.
        program(
            "smilepiled",
            [
                "SmilePile", "LibraryModel", "ControlSocket", "Configuring", "ServiceMesh", "Executors", "CSystemd",
                "CLinux",
            ]),
        // The command line.
        program("smilepile", ["Commands"]),
        // The page for browsers, in front of a daemon's socket.
        program(
            "smilepile-web",
            [
                "WebServer", "WebPage", "ControlSocket", "Configuring", "HomeAuthority", "LibraryModel", "ServiceMesh",
                "Executors", "Files", "CSystemd",
            ]),
        // The helper that opens pictures, shut in: one of several, and of a life of seconds.
        program("smilepile-image-worker", path: "Sources/ImageWorker", ["PhotoConversion"]),
        // The same for films, so that pictures are not opened beside the libraries that those need.
        program("smilepile-film-worker", path: "Sources/FilmWorker", ["FilmConversion"]),
        // What is fast, and how fast beside the programs that others would use; and the campaigns.
        program(
            "smilepile-bench",
            [
                "FaultCampaign", "StressCampaign", "BenchSupport", "SmilePile", "LibraryModel", "ControlSocket",
                "ServiceMesh", "ServiceMeshTesting", "Sealing", "TextFolding", "Browser", "Randomness", "SampleAlbum",
                "ZipArchive",
            ]),

        // Tests mirror Sources
        .target(
            name: "TestSupport", dependencies: ["CSQLite"], path: "Tests/TestSupport", swiftSettings: strict),
        // Terminals for programs under test
        .target(name: "CTerminal", path: "Tests/CTerminal", cSettings: [.treatAllWarnings(as: .error)]),
        .target(
            name: "EndToEndSupport",
            dependencies: ["ControlSocket", "LibraryModel", "ServiceMesh", "TestSupport", "CLinux", "CTerminal"],
            path: "Tests/EndToEndSupport", swiftSettings: strict),
        // Rows for catalogues, and a look through one
        .target(
            name: "CatalogueTestSupport",
            dependencies: [
                "SQLiteCatalogue", "LibraryStorage", "LibraryModel", "ServiceMesh", "Database", "Randomness",
            ],
            path: "Tests/CatalogueTestSupport", swiftSettings: strict),
        // What every catalogue promises, whatever it is made of
        .target(
            name: "CatalogueContract", dependencies: ["LibraryStorage", "LibraryModel", "ServiceMesh", "Files"],
            path: "Tests/CatalogueContract", swiftSettings: strict),
        // A worker that tries to get out, for the tests of its cell
        .target(
            name: "CAttempts", path: "Tests/CAttempts", cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("seccomp")]),
        program("server-cell-probe", path: "Tests/ServerCellProbe", ["WebServer", "CAttempts"]),
        program("cell-probe", path: "Tests/CellProbe", ["PhotoConversion", "ImageWorkerProtocol", "CAttempts"]),
        tests("ExecutorsTests", ["Executors"]),
        tests("FilesTests", ["Files", "ServiceMesh", "TestSupport"]),
        tests("ConfiguringTests", ["Configuring", "ServiceMesh", "TestSupport"]),
        tests("ScratchTests", ["Scratch", "TestSupport"]),
        tests("TextFoldingTests", ["TextFolding", "Randomness", "TestSupport"]),
        tests("ServiceMeshTests", ["ServiceMesh", "ServiceMeshTesting", "TestSupport"]),
        tests("DatabaseTests", ["Database", "CSQLite", "Executors", "TestSupport"]),
        tests(
            "ImagingTests",
            [
                "DateTexts", "Imaging", "PhotoConversion", "ImageWorkerProtocol", "smilepile-image-worker",
                "smilepile-film-worker", "cell-probe", "Randomness", "CGD", "CLinux", "TestSupport",
            ]),
        tests("ZipArchiveTests", ["ZipArchive", "Scratch", "Files", "Randomness", "CLinux", "TestSupport"]),
        tests("SealingTests", ["Sealing", "ServiceMesh", "Executors", "TestSupport", "CSodium"]),
        tests("HomeAuthorityTests", ["HomeAuthority", "ServiceMesh", "CLinux", "TestSupport"]),
        tests("DateTextsTests", ["DateTexts"]),
        tests("SidecarsTests", ["Sidecars", "DateTexts", "Randomness", "TestSupport"]),
        tests(
            "SQLiteCatalogueTests",
            [
                "SQLiteCatalogue", "PhotoFolder", "LibraryStorage", "LibraryModel", "ServiceMesh", "Database",
                "SmilePile", "CatalogueContract", "CatalogueTestSupport", "ServiceMeshTesting", "TextFolding",
                "Randomness", "TestSupport",
            ]),
        // An open library, and what tests do with one
        .target(
            name: "LibraryTestSupport",
            dependencies: [
                "SmilePile", "Importing", "Backups", "LibraryServices", "LibraryStorage", "SQLiteCatalogue",
                "PhotoFolder", "LibraryModel", "ServiceMesh", "Database", "Executors", "Imaging", "Sealing",
                "ZipArchive", "SampleAlbum", "CatalogueTestSupport", "TestSupport",
            ],
            path: "Tests/LibraryTestSupport", swiftSettings: strict),
        tests(
            "LibraryServicesTests",
            [
                "SmilePile", "BackupFormats", "Backups", "Exchange", "LibraryServices", "LibraryStorage",
                "SQLiteCatalogue", "PhotoFolder", "LibraryModel", "ServiceMesh", "Database", "Files", "Executors",
                "Imaging", "Sealing", "ZipArchive", "SampleAlbum", "TextFolding", "Randomness", "ServiceMeshTesting",
                "CatalogueTestSupport", "LibraryTestSupport", "TestSupport",
            ]),
        tests(
            "ImportingTests",
            [
                "SmilePile", "Importing", "LibraryServices", "LibraryStorage", "SQLiteCatalogue", "PhotoFolder",
                "AndroidDatabase", "LibraryModel", "ServiceMesh", "Database", "Files", "Executors", "Imaging",
                "Scratch",
                "ZipArchive", "SampleAlbum", "Randomness", "ServiceMeshTesting", "CatalogueTestSupport",
                "LibraryTestSupport", "TestSupport", "cell-probe",
            ]),
        // Of both: what a backup's file says, and how it is written and read
        tests(
            "BackupsTests",
            [
                "SmilePile", "BackupFormats", "Backups", "LibraryServices", "LibraryStorage", "SQLiteCatalogue",
                "PhotoFolder", "LibraryModel", "ServiceMesh", "Database", "Files", "Executors", "Scratch", "Sealing",
                "ZipArchive", "SampleAlbum", "ServiceMeshTesting", "LibraryTestSupport", "TestSupport",
            ]),
        tests(
            "ExchangeTests",
            [
                "SmilePile", "Exchange", "LibraryServices", "LibraryStorage", "SQLiteCatalogue", "LibraryModel",
                "ServiceMesh", "Imaging", "ZipArchive", "SampleAlbum", "ServiceMeshTesting", "LibraryTestSupport",
                "TestSupport",
            ]),
        tests(
            "LinksTests",
            [
                "SmilePile", "Links", "LibraryModel", "ServiceMesh", "SampleAlbum", "LibraryTestSupport", "TestSupport",
            ]),
        // What only all of them together have
        tests(
            "SmilePileTests",
            [
                "SmilePile", "Importing", "Backups", "LibraryServices", "LibraryStorage", "SQLiteCatalogue",
                "PhotoFolder", "LibraryModel", "ServiceMesh", "Database", "Files", "Executors", "Imaging",
                "ZipArchive", "SampleAlbum", "ServiceMeshTesting", "CatalogueTestSupport", "LibraryTestSupport",
                "TestSupport", "CLinux",
            ]),
        tests(
            "ControlSocketTests",
            ["ControlSocket", "ServiceMesh", "ServiceMeshTesting", "Randomness", "CLinux", "TestSupport"]),
        tests(
            "WebServerTests",
            [
                "WebServer", "WebPage", "ControlSocket", "ServiceMesh", "Executors", "QRCodes", "TestSupport",
                "server-cell-probe",
            ]),
        tests("HTTPClientTests", ["HTTPClient", "ServiceMesh", "TestSupport"]),
        tests(
            "CommandsTests",
            [
                "Commands", "CommandLineInterface", "Exporting", "Supervision", "Diagnosis", "ControlSocket",
                "Configuring", "LibraryModel", "QRCodes", "ServiceMesh", "ServiceMeshTesting", "Sidecars",
                "TestSupport",
            ]),
        tests(
            "SimulationTests",
            [
                "ServiceMeshTesting", "ControlSocket", "SmilePile", "Backups", "Exchange", "LibraryServices",
                "LibraryStorage", "SQLiteCatalogue", "PhotoFolder", "LibraryModel", "ServiceMesh", "Sealing",
                "Database", "Files", "Executors", "Imaging", "ImageWorkerProtocol", "ZipArchive", "CLinux",
                "TestSupport",
            ]),
        tests(
            "EndToEndTests",
            [
                "ControlSocket", "LibraryModel", "ServiceMesh", "Executors", "SampleAlbum", "EndToEndSupport",
                "TestSupport", "smilepile", "smilepiled", "smilepile-web", "smilepile-image-worker",
                "smilepile-film-worker",
            ]),
        tests(
            "BrowserTests",
            [
                "Browser", "ControlSocket", "LibraryModel", "ServiceMesh", "SampleAlbum", "EndToEndSupport",
                "TestSupport",
                "smilepile", "smilepiled", "smilepile-web", "smilepile-image-worker", "smilepile-film-worker",
            ]),
        tests(
            "StressTests",
            [
                "ControlSocket", "LibraryModel", "ServiceMesh", "SampleAlbum", "EndToEndSupport", "TestSupport",
                "smilepile", "smilepiled", "smilepile-image-worker", "smilepile-film-worker",
            ]),
    ]
)

// What Scripts/fuzz builds, and nothing else does: programs whose main function is libFuzzer's, with every module that
// they use instrumented. An ordinary build must neither compile nor link them.
func fuzzing(_ name: String, path: String, _ dependencies: [Target.Dependency]) -> Target {
    program("fuzz-" + name, path: "Tests/Fuzzing/" + path, dependencies + ["FuzzSupport"])
}

if Context.environment["SMILEPILE_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzzing/CLibFuzzer"),
        .target(
            name: "FuzzSupport", dependencies: ["Randomness", "CLibFuzzer", "CLinux"], path: "Tests/Fuzzing/Support",
            swiftSettings: strict),
        fuzzing("request-lines", path: "RequestLines", ["ControlSocket", "ServiceMesh", "CSQLite"]),
        fuzzing("zip-directory", path: "ZipDirectories", ["ZipArchive", "CArchive"]),
        fuzzing("exif", path: "Exif", ["PhotoConversion", "DateTexts", "ImageWorkerProtocol", "SampleAlbum"]),
        fuzzing(
            "container-sniffing", path: "ContainerSniffing",
            ["PhotoConversion", "ImageWorkerProtocol", "SampleAlbum", "CGD", "CLCMS"]),
        fuzzing("later-jpegs", path: "LaterJPEGs", ["PhotoConversion", "ImageWorkerProtocol"]),
        fuzzing("raw-headers", path: "RawHeaders", ["PhotoConversion", "ImageWorkerProtocol"]),
        fuzzing("sidecars", path: "Sidecars", ["Sidecars"]),
        fuzzing(
            "worker-protocol", path: "WorkerProtocol",
            ["PhotoConversion", "ImageWorkerProtocol", "Imaging", "CLinux"]),
        fuzzing(
            "backup-json", path: "BackupJSON",
            [
                "Backups", "BackupFormats", "LibraryStorage", "Scratch", "SQLiteCatalogue", "PhotoFolder",
                "LibraryModel", "ServiceMesh", "Database", "Files", "Executors", "ZipArchive", "CSQLite", "TestSupport",
            ]),
        fuzzing(
            "room-databases", path: "RoomDatabases",
            [
                "AndroidDatabase", "Importing", "PhotoFolder", "LibraryModel", "ServiceMesh", "Files",
                "Database", "CSQLite", "TestSupport",
            ]),
    ]
}

// SMILEPILE_ONLY=NAME,NAME has those targets alone, and what they need: nobody waits for what they do not run.
if let only = Context.environment["SMILEPILE_ONLY"] {
    var wanted = only.split(separator: ",").map(String.init)
    var needed: Set<String> = []
    while let name = wanted.popLast() {
        guard needed.insert(name).inserted else { continue }
        guard let target = package.targets.first(where: { $0.name == name }) else {
            fatalError("SMILEPILE_ONLY names \(name), and there is no such target.")
        }
        for dependency in target.dependencies {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): wanted.append(name)
            default: break
            }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { product in
        switch product {
        case let product as Product.Library: !needed.isSuperset(of: product.targets)
        case let product as Product.Executable: !needed.isSuperset(of: product.targets)
        default: true
        }
    }
}

// SMILEPILE_WITHOUT=TARGET/FILE,TARGET/FILE leaves out these files: what a build never runs, it need not compile.
if let without = Context.environment["SMILEPILE_WITHOUT"] {
    for path in without.split(separator: ",") {
        let parts = path.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2, let target = package.targets.first(where: { $0.name == parts[0] }) else {
            fatalError("SMILEPILE_WITHOUT names \(path), and there is no such file of a target.")
        }
        target.exclude.append(parts[1])
    }
}
