// SPDX-License-Identifier: Apache-2.0
// swift-tools-version: 6.2
import PackageDescription

/// The strict settings that every target shares.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

/// The settings of code in the style of clients, which may use old spellings.
let client: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .treatWarning("DeprecatedDeclaration", as: .warning),
]

/// The linker settings of programs: all symbols are bound when they start, so that the table of functions becomes
/// read-only too (RELRO). The package manager has no setting for this; PIE and RELRO are the linker's defaults. Only
/// programs and pcscd's driver have the flag, because packages that depend on the libraries can't use targets with
/// unsafe flags.
let hardened: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])]

let package = Package(
    name: "OpenCoreNFC",
    // For the linter alone, which uses three libraries of the package there.
    platforms: [.macOS(.v13)],
    products: [
        .library(name: "CoreNFC", targets: ["CoreNFC"]),
        .library(name: "NDEF", targets: ["NDEF"]),
        .library(name: "TagLink", targets: ["TagLink"]),
        .library(name: "VisibleText", targets: ["VisibleText"]),
        .library(name: "PrivateStorage", targets: ["PrivateStorage"]),
        .library(name: "CardCryptography", targets: ["CardCryptography"]),
        .library(name: "TagProtocols", targets: ["TagProtocols"]),
        .library(name: "TagTrace", targets: ["TagTrace"]),
        .library(name: "VirtualTags", targets: ["VirtualTags"]),
        .library(name: "VirtualCards", targets: ["VirtualCards"]),
        .library(name: "TagImages", targets: ["TagImages"]),
        .library(name: "PN532Driver", targets: ["PN532Driver"]),
        .library(name: "PCSCDriver", targets: ["PCSCDriver"]),
        .library(name: "NFCSessions", targets: ["NFCSessions"]),
        .library(name: "NFCReaders", targets: ["NFCReaders"]),
        .library(name: "UniversalLinks", targets: ["UniversalLinks"]),
        .library(name: "BackgroundTagReading", targets: ["BackgroundTagReading"]),
        .library(name: "UserActivityReceiving", targets: ["UserActivityReceiving"]),
        .library(name: "PhoneScreens", targets: ["PhoneScreens"]),
        .library(name: "NFCTestKit", targets: ["NFCTestKit"]),
        // The driver that pcscd loads to show an emulated reader to other programs.
        .library(name: "OpenCoreNFCReader", type: .dynamic, targets: ["CIFDHandler"]),
        .executable(name: "nfc", targets: ["nfc"]),
        .executable(name: "nfcd", targets: ["nfcd"]),
        .executable(name: "TagReader", targets: ["TagReader"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")
    ],
    targets: [
        // Five leaves.
        .target(name: "NDEF", path: "Sources/Tags/NDEF", swiftSettings: strict),
        .target(name: "TagLink", path: "Sources/Tags/TagLink", swiftSettings: strict),
        // Makes text of others fit to show.
        .target(name: "VisibleText", path: "Sources/Support/VisibleText", swiftSettings: strict),
        .target(name: "CSystemCalls", path: "Sources/Support/CSystemCalls"),
        .target(
            name: "SystemLibrary",
            dependencies: ["CSystemCalls"],
            path: "Sources/Support/SystemLibrary",
            swiftSettings: strict
        ),
        .target(name: "CLibCrypto", path: "Sources/Support/CLibCrypto"),
        .target(
            name: "CardCryptography",
            dependencies: ["CLibCrypto", "SystemLibrary"],
            path: "Sources/Support/CardCryptography",
            swiftSettings: strict
        ),

        // Which app opens a link.
        .target(
            name: "UniversalLinks",
            dependencies: ["VisibleText"],
            path: "Sources/Background/UniversalLinks",
            swiftSettings: strict
        ),

        // What happens when a tag is read and no app runs: the rules without their surroundings.
        .target(
            name: "BackgroundTagReading",
            dependencies: ["NDEF", "UniversalLinks", "VisibleText"],
            path: "Sources/Background/BackgroundTagReading",
            swiftSettings: strict
        ),

        // Files as all others read and write them, and those that only their owner reads.
        .target(
            name: "PrivateStorage",
            dependencies: ["CSystemCalls", "SystemLibrary"],
            path: "Sources/Support/PrivateStorage",
            swiftSettings: strict
        ),

        // Gets association files from their sites, with libcurl.
        .target(name: "CCurl", path: "Sources/Background/CCurl"),
        .target(
            name: "LinkFetching",
            dependencies: ["CCurl", "CLibCrypto", "PrivateStorage", "UniversalLinks"],
            path: "Sources/Background/LinkFetching",
            swiftSettings: strict
        ),

        // The user's bus: links to apps, over sd-bus.
        .target(name: "CSDBus", path: "Sources/Background/CSDBus"),
        .target(
            name: "UserBus",
            dependencies: ["BackgroundTagReading", "CSDBus", "PrivateStorage", "SystemLibrary"],
            path: "Sources/Background/UserBus",
            swiftSettings: strict
        ),

        // Opens what a tag has: in its app, the browser, or what the desktop has for it. Finds the installed apps, keeps the inbox.
        .target(
            name: "LinkDelivery",
            dependencies: [
                "BackgroundTagReading", "LinkFetching", "PrivateStorage", "SystemLibrary", "UserBus",
            ],
            path: "Sources/Background/LinkDelivery",
            swiftSettings: strict
        ),

        // Exchanges in words, and recordings of a reader.
        .target(
            name: "TagTrace",
            dependencies: ["PrivateStorage", "SystemLibrary", "TagLink", "VisibleText"],
            path: "Sources/Tags/TagTrace",
            swiftSettings: strict
        ),

        // The reader's side and the tag's side, which never import each other.
        .target(
            name: "TagProtocols",
            dependencies: ["CardCryptography", "TagLink"],
            path: "Sources/Tags/TagProtocols",
            swiftSettings: strict
        ),
        .target(
            name: "VirtualTags",
            dependencies: ["CardCryptography", "TagLink"],
            path: "Sources/VirtualTags/VirtualTags",
            swiftSettings: strict
        ),
        // Smart cards as virtual tags, and what a tag of any kind holds.
        .target(
            name: "VirtualCards",
            dependencies: ["CardCryptography", "NDEF", "TagLink", "VirtualTags"],
            path: "Sources/VirtualTags/VirtualCards",
            swiftSettings: strict
        ),
        // Files with what a tag holds.
        .target(
            name: "TagImages",
            dependencies: ["TagLink", "VirtualCards", "VirtualTags", "VisibleText"],
            path: "Sources/VirtualTags/TagImages",
            swiftSettings: strict
        ),

        // Reader drivers. They know neither each other nor the contents of tags.
        .target(
            name: "PCSCDriver",
            dependencies: ["SystemLibrary", "TagLink"],
            path: "Sources/Readers/PCSCDriver",
            swiftSettings: strict
        ),
        .target(
            name: "PN532Driver",
            dependencies: ["SystemLibrary", "TagLink"],
            path: "Sources/Readers/PN532Driver",
            swiftSettings: strict
        ),

        .target(
            name: "SimulatorDriver",
            dependencies: ["PrivateStorage", "SystemLibrary", "TagLink", "VisibleText"],
            path: "Sources/Readers/SimulatorDriver",
            swiftSettings: strict
        ),

        // A reader as other software meets it: its driver in pcscd, and what answers behind it.
        .target(
            name: "CIFDHandler",
            path: "Sources/Readers/CIFDHandler",
            linkerSettings: [.linkedLibrary("pthread")] + hardened
        ),
        .target(
            name: "ReaderEmulation",
            dependencies: ["CSystemCalls", "PrivateStorage", "SystemLibrary", "TagLink", "TagProtocols", "TagTrace"],
            path: "Sources/Readers/ReaderEmulation",
            swiftSettings: strict
        ),

        // Sessions, their turns, time and the sheet.
        .target(
            name: "NFCSessions",
            dependencies: ["SystemLibrary", "TagLink", "TagProtocols", "VisibleText"],
            path: "Sources/Sessions/NFCSessions",
            swiftSettings: strict
        ),
        // Which readers there are, and the environment of a process.
        .target(
            name: "NFCReaders",
            dependencies: [
                "NFCSessions", "PCSCDriver", "PN532Driver", "PrivateStorage", "ReaderEmulation", "SimulatorDriver",
                "SystemLibrary", "TagLink", "TagProtocols", "TagTrace", "TagImages", "VirtualCards", "VirtualTags",
                "VisibleText",
            ],
            path: "Sources/Sessions/NFCReaders",
            swiftSettings: strict
        ),
        // In mode 5, so that clients see its types as those of a framework in Objective-C: not Sendable, and nothing said
        // of it where they import it with @preconcurrency, or are in mode 5 themselves. dev/check-concurrency checks
        // its own code in mode 6.
        .target(
            name: "CoreNFC",
            dependencies: [
                "NDEF", "NFCReaders", "NFCSessions", "PrivateStorage", "SystemLibrary", "TagLink", "TagProtocols",
                "VisibleText",
            ],
            path: "Sources/Framework/CoreNFC",
            swiftSettings: strict + [.swiftLanguageMode(.v5)]
        ),
        // Gives an app the links of tags that were read in the background.
        .target(
            name: "UserActivityReceiving",
            dependencies: ["BackgroundTagReading", "CoreNFC", "NFCReaders", "UserBus"],
            path: "Sources/Framework/UserActivityReceiving",
            swiftSettings: strict
        ),
        // Shows an app's screens on the phone of a simulator.
        .target(
            name: "PhoneScreens",
            dependencies: ["NFCReaders", "VisibleText"],
            path: "Sources/Framework/PhoneScreens",
            swiftSettings: strict
        ),
        .target(
            name: "NFCTestKit",
            dependencies: [
                "NDEF", "NFCReaders", "NFCSessions", "PrivateStorage", "SystemLibrary", "TagLink", "TagProtocols",
                "TagTrace", "TagImages", "VirtualCards", "VirtualTags",
            ],
            path: "Sources/Framework/NFCTestKit",
            swiftSettings: strict
        ),

        .executableTarget(
            name: "nfc",
            dependencies: [
                "NDEF", "TagLink", "TagProtocols", "TagTrace", "TagImages", "VirtualCards", "VirtualTags",
                "ReaderEmulation", "NFCReaders",
                "NFCSessions",
                "UniversalLinks", "BackgroundTagReading", "LinkFetching", "PrivateStorage",
                "LinkDelivery", "SystemLibrary", "UserBus", "VisibleText",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/Tools/nfc",
            swiftSettings: strict,
            linkerSettings: hardened
        ),
        // Reads tags in the background.
        .executableTarget(
            name: "nfcd",
            dependencies: [
                "BackgroundTagReading", "LinkDelivery", "LinkFetching", "NFCReaders",
                "NFCSessions", "PrivateStorage", "SystemLibrary", "TagLink", "TagTrace", "UserBus", "VisibleText",
            ],
            path: "Sources/Tools/nfcd",
            swiftSettings: strict + [.defaultIsolation(MainActor.self)],
            linkerSettings: hardened
        ),
        .executableTarget(
            name: "TagReader",
            dependencies: ["CoreNFC", "PhoneScreens", "UserActivityReceiving", "VisibleText"],
            path: "Examples/TagReader",
            // What an app has in its bundle, and what the example is installed with.
            resources: [.copy("Resources"), .copy("Installation")],
            swiftSettings: strict,
            linkerSettings: hardened
        ),
        .executableTarget(
            name: "FirstScan",
            dependencies: ["CoreNFC"],
            path: "Examples/FirstScan",
            resources: [.copy("Resources")],
            swiftSettings: strict,
            linkerSettings: hardened
        ),

        // Sets how many tests run in parallel. Every test target has it, by the lines at the end.
        .target(name: "CTestSetup", path: "Tests/TestSupport/CTestSetup"),
        // Waiting, and threads for tests that wait for a program.
        .target(name: "TestThreads", path: "Tests/TestSupport/TestThreads", swiftSettings: strict),
        // Programs that tests write and run.
        .target(
            name: "ProgramTesting",
            dependencies: ["SystemLibrary"],
            path: "Tests/TestSupport/ProgramTesting",
            swiftSettings: strict
        ),
        // Sends frames to virtual tags, written as hexadecimal text.
        .target(
            name: "TagScripts",
            dependencies: ["TagLink", "VirtualTags"],
            path: "Tests/TestSupport/TagScripts",
            swiftSettings: strict
        ),
        // Rules that hold for random cases.
        .target(name: "PropertyTesting", path: "Tests/TestSupport/PropertyTesting", swiftSettings: strict),

        // A card and a reader for tests of sessions.
        .target(
            name: "SessionTesting",
            dependencies: ["NFCSessions", "TagLink", "TagProtocols", "VirtualTags"],
            path: "Tests/TestSupport/SessionTesting",
            swiftSettings: strict
        ),
        // A PN532 that answers as a test says.
        .target(
            name: "ChipTesting",
            dependencies: ["TagLink"],
            path: "Tests/TestSupport/ChipTesting",
            swiftSettings: strict
        ),
        // Emulated readers in a pcscd of their own.
        .target(
            name: "PCSCTesting",
            dependencies: [
                "CIFDHandler", "PCSCDriver", "PrivateStorage", "ReaderEmulation", "TestThreads", "VirtualTags",
            ],
            path: "Tests/TestSupport/PCSCTesting",
            swiftSettings: strict
        ),
        // The other end of a simulator's socket.
        .target(
            name: "SimulatorTesting",
            dependencies: ["SimulatorDriver", "TagLink", "VirtualTags"],
            path: "Tests/TestSupport/SimulatorTesting",
            swiftSettings: strict
        ),

        // A bus for one test.
        .target(
            name: "BusTesting",
            dependencies: ["PrivateStorage", "UserBus"],
            path: "Tests/TestSupport/BusTesting",
            swiftSettings: strict
        ),

        .testTarget(
            name: "NDEFTests",
            dependencies: ["NDEF", "PropertyTesting"],
            path: "Tests/Tags/NDEFTests",
            exclude: ["Vectors"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PropertyTestingTests",
            dependencies: ["PropertyTesting"],
            path: "Tests/TestSupport/PropertyTestingTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "VisibleTextTests",
            dependencies: ["VisibleText"],
            path: "Tests/Support/VisibleTextTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "UniversalLinksTests",
            dependencies: ["PropertyTesting", "UniversalLinks"],
            path: "Tests/Background/UniversalLinksTests",
            exclude: ["Vectors"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "BackgroundTagReadingTests",
            dependencies: ["BackgroundTagReading", "NDEF", "PropertyTesting", "UniversalLinks"],
            path: "Tests/Background/BackgroundTagReadingTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "PrivateStorageTests",
            dependencies: ["PrivateStorage", "TestThreads"],
            path: "Tests/Support/PrivateStorageTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "UserBusTests",
            dependencies: [
                "BackgroundTagReading", "BusTesting", "CSDBus", "NDEF", "PrivateStorage", "TestThreads", "UserBus",
            ],
            path: "Tests/Background/UserBusTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "LinkDeliveryTests",
            dependencies: [
                "BackgroundTagReading", "BusTesting", "CSDBus", "LinkDelivery", "NDEF", "PrivateStorage",
                "ProgramTesting", "TestThreads", "UserBus",
            ],
            path: "Tests/Background/LinkDeliveryTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "LinkFetchingTests",
            dependencies: ["LinkFetching", "PrivateStorage", "TestThreads", "UniversalLinks"],
            path: "Tests/Background/LinkFetchingTests",
            exclude: ["site.py"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "UserActivityReceivingTests",
            dependencies: [
                "BackgroundTagReading", "BusTesting", "CoreNFC", "NDEF", "PrivateStorage",
                "TestThreads", "UserActivityReceiving", "UserBus",
            ],
            path: "Tests/Framework/UserActivityReceivingTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "SystemLibraryTests",
            dependencies: ["ProgramTesting", "SystemLibrary", "TestThreads"],
            path: "Tests/Support/SystemLibraryTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "CardCryptographyTests",
            dependencies: ["CardCryptography", "TestThreads"],
            path: "Tests/Support/CardCryptographyTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "TagLinkTests",
            dependencies: ["TagLink", "TestThreads"],
            path: "Tests/Tags/TagLinkTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "TagTraceTests",
            dependencies: ["TagLink", "TagTrace"],
            path: "Tests/Tags/TagTraceTests",
            exclude: ["Trace/Vectors"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TagProtocolsTests",
            dependencies: [
                "TagProtocols", "TagLink", "TagImages", "VirtualCards", "VirtualTags",
                "PropertyTesting", "TestThreads",
            ],
            path: "Tests/Tags/TagProtocolsTests",
            exclude: ["Vectors"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "VirtualTagsTests",
            dependencies: ["CardCryptography", "TagLink", "TagScripts", "TestThreads", "VirtualTags"],
            path: "Tests/VirtualTags/VirtualTagsTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "VirtualCardsTests",
            dependencies: [
                "CardCryptography", "TagLink", "TagScripts", "TestThreads", "VirtualCards", "VirtualTags",
            ],
            path: "Tests/VirtualTags/VirtualCardsTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "TagImagesTests",
            dependencies: [
                "PropertyTesting", "TagImages", "TagLink", "TagScripts", "VirtualCards", "VirtualTags",
            ],
            path: "Tests/VirtualTags/TagImagesTests",
            exclude: ["Dumps", "Vectors"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PN532DriverTests",
            dependencies: ["ChipTesting", "PN532Driver", "TagLink"],
            path: "Tests/Readers/PN532DriverTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "SimulatorDriverTests",
            dependencies: [
                "CoreNFC", "NFCReaders", "NFCSessions", "NFCTestKit", "PhoneScreens", "SimulatorDriver",
                "SimulatorTesting", "TagLink", "TestThreads", "VirtualTags",
            ],
            path: "Tests/Readers/SimulatorDriverTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ReaderEmulationTests",
            dependencies: [
                "ReaderEmulation", "CIFDHandler", "PrivateStorage", "TagLink", "TestThreads", "VirtualTags",
            ],
            path: "Tests/Readers/ReaderEmulationTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "PCSCDriverTests",
            dependencies: ["PCSCDriver", "TagLink", "TagProtocols", "TestThreads"],
            path: "Tests/Readers/PCSCDriverTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "NFCSessionsTests",
            dependencies: [
                "NFCReaders", "NFCSessions", "NFCTestKit", "PCSCDriver", "PCSCTesting", "PN532Driver",
                "PropertyTesting", "ReaderEmulation", "SessionTesting", "SystemLibrary", "TagLink",
                "TagProtocols", "TagTrace", "TestThreads", "VirtualCards", "VirtualTags",
            ],
            path: "Tests/Sessions/NFCSessionsTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "NFCReadersTests",
            dependencies: [
                "ChipTesting", "NFCReaders", "NFCSessions", "NFCTestKit", "PCSCDriver", "PCSCTesting",
                "PN532Driver", "PrivateStorage", "ProgramTesting", "ReaderEmulation", "SessionTesting",
                "SimulatorTesting", "SystemLibrary", "TagLink", "TagProtocols", "TagTrace", "TagImages", "VirtualCards",
                "VirtualTags", "TestThreads",
            ],
            path: "Tests/Sessions/NFCReadersTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "CoreNFCTests",
            dependencies: [
                "CIFDHandler", "CoreNFC", "NFCReaders", "NFCTestKit", "NFCSessions", "ReaderEmulation",
                "TagProtocols", "VirtualCards", "VirtualTags", "PropertyTesting", "TagLink",
                "SourceCompatibilitySwift6", "TestThreads",
            ],
            path: "Tests/Framework/CoreNFCTests",
            exclude: ["Parity"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NFCTestKitTests",
            dependencies: [
                "CoreNFC", "NFCTestKit", "NFCSessions", "TagLink", "VirtualCards", "VirtualTags", "TestThreads",
            ],
            path: "Tests/Framework/NFCTestKitTests",
            swiftSettings: strict
        ),
        // The same probes in mode 5, as the tests of many apps are.
        .testTarget(
            name: "NFCTestKitSwift5Tests",
            dependencies: ["CoreNFC", "NFCTestKit"],
            path: "Tests/Framework/NFCTestKitSwift5Tests",
            swiftSettings: strict + [.swiftLanguageMode(.v5)]
        ),
        // Code in the style of real clients, which would compile on iOS unchanged: in Swift 5 mode, and in mode 6.
        .testTarget(
            name: "SourceCompatibilitySwift5",
            dependencies: ["CoreNFC"],
            path: "Tests/Framework/SourceCompatibilityTests/Swift5",
            swiftSettings: client + [.swiftLanguageMode(.v5)]
        ),
        .testTarget(
            name: "SourceCompatibilitySwift6",
            dependencies: ["CoreNFC"],
            path: "Tests/Framework/SourceCompatibilityTests/Swift6",
            swiftSettings: client
        ),
        .testTarget(
            name: "SourceCompatibilityTests",
            dependencies: [
                "CardCryptography", "CoreNFC", "SourceCompatibilitySwift5", "SourceCompatibilitySwift6", "NFCTestKit",
                "TagLink", "TagImages", "VirtualCards", "VirtualTags",
            ],
            path: "Tests/Framework/SourceCompatibilityTests",
            exclude: ["Forms", "Swift5", "Swift6"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "nfc", "nfcd", "TagReader", "FirstScan", "BackgroundTagReading", "CSDBus", "LinkDelivery",
                "LinkFetching", "NDEF", "NFCReaders", "NFCSessions", "PrivateStorage", "ProgramTesting",
                "ReaderEmulation", "SystemLibrary", "TagImages", "TagLink", "TagProtocols", "TagTrace", "TestThreads",
                "UserBus", "VirtualCards", "VirtualTags", "VisibleText",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Tools/CommandLineTests",
            exclude: ["Cases", "Images", "LinkageProbe.swift"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "nfc", "nfcd", "TagReader", "FirstScan", "BackgroundTagReading", "CSDBus", "LinkDelivery",
                "LinkFetching", "NDEF", "NFCReaders", "PrivateStorage", "ProgramTesting", "SystemLibrary",
                "TestThreads", "UserBus",
            ],
            path: "Tests/Tools/DaemonTests",
            exclude: ["bus_peer.py"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SampleAppTests",
            dependencies: [
                "nfc", "nfcd", "TagReader", "FirstScan", "BackgroundTagReading", "CSDBus", "LinkDelivery", "NDEF",
                "ProgramTesting", "TestThreads", "UserBus",
            ],
            path: "Tests/Tools/SampleAppTests",
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type == .test { target.dependencies.append("CTestSetup") }

// A build of its own, such as that for ThreadSanitizer, can be one of some test targets alone, and of no programs.
if let named = Context.environment["OPENCORENFC_TEST_TARGETS"]?.split(whereSeparator: \.isWhitespace).map(String.init) {
    package.targets.removeAll { $0.type == .executable || $0.type == .test && !named.contains($0.name) }
    package.products.removeAll { $0 is Product.Executable }
}
