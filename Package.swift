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
    // Only for the linter, which uses libraries of this package on macOS.
    platforms: [.macOS(.v13)],
    products: [
        .library(name: "CoreNFC", targets: ["CoreNFC"]),
        .library(name: "NDEF", targets: ["NDEF"]),
        .library(name: "TagLink", targets: ["TagLink"]),
        .library(name: "TextSafety", targets: ["TextSafety"]),
        .library(name: "LinuxSupport", targets: ["LinuxSupport"]),
        .library(name: "CardCryptography", targets: ["CardCryptography"]),
        .library(name: "TagProtocols", targets: ["TagProtocols"]),
        .library(name: "TagTrace", targets: ["TagTrace"]),
        .library(name: "VirtualTags", targets: ["VirtualTags"]),
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
        // No dependencies.
        .target(name: "NDEF", path: "Sources/Tags/NDEF", swiftSettings: strict),
        .target(name: "TagLink", path: "Sources/Tags/TagLink", swiftSettings: strict),
        // Sanitizes untrusted text for display; JSON.
        .target(name: "TextSafety", path: "Sources/Support/TextSafety", swiftSettings: strict),
        .target(
            name: "LinuxSupport",
            dependencies: ["CLinuxSupport"],
            path: "Sources/Support/LinuxSupport",
            swiftSettings: strict
        ),
        .target(name: "CLinuxSupport", path: "Sources/Support/CLinuxSupport"),
        .target(
            name: "CardCryptography",
            dependencies: ["CLinuxSupport"],
            path: "Sources/Support/CardCryptography",
            swiftSettings: strict
        ),

        // Which app opens a link.
        .target(
            name: "UniversalLinks",
            dependencies: ["TextSafety"],
            path: "Sources/Background/UniversalLinks",
            swiftSettings: strict
        ),

        // Background tag reading: the rules, without I/O.
        .target(
            name: "BackgroundTagReading",
            dependencies: ["NDEF", "TextSafety", "UniversalLinks"],
            path: "Sources/Background/BackgroundTagReading",
            swiftSettings: strict
        ),

        .target(name: "CCurl", path: "Sources/Background/CCurl"),

        // The user's bus: links to apps, over sd-bus.
        .target(name: "CSDBus", path: "Sources/Background/CSDBus"),
        .target(
            name: "UserBus",
            dependencies: ["BackgroundTagReading", "CSDBus", "LinuxSupport"],
            path: "Sources/Background/UserBus",
            swiftSettings: strict
        ),

        // Opens a tag's link in its app, the browser, or the desktop's default handler. Fetches association files with libcurl,
        // finds the installed apps, keeps the inbox.
        .target(
            name: "LinkDelivery",
            dependencies: [
                "BackgroundTagReading", "CCurl", "CLinuxSupport", "LinuxSupport", "UniversalLinks", "UserBus",
            ],
            path: "Sources/Background/LinkDelivery",
            swiftSettings: strict
        ),

        // Describes exchanges in words, and records the traffic of a reader.
        .target(
            name: "TagTrace",
            dependencies: ["LinuxSupport", "TagLink", "TextSafety"],
            path: "Sources/Tags/TagTrace",
            swiftSettings: strict
        ),

        // Tag products, shared by the reader and the tag modules, which never import each other.
        .target(
            name: "TagProducts",
            dependencies: ["TagLink"],
            path: "Sources/Tags/TagProducts",
            swiftSettings: strict
        ),
        .target(
            name: "TagProtocols",
            dependencies: ["CardCryptography", "TagLink", "TagProducts"],
            path: "Sources/Tags/TagProtocols",
            swiftSettings: strict
        ),
        .target(
            name: "VirtualTags",
            dependencies: ["CardCryptography", "NDEF", "TagLink", "TagProducts"],
            path: "Sources/VirtualTags/VirtualTags",
            swiftSettings: strict
        ),
        // Files with the contents of tags.
        .target(
            name: "TagImages",
            dependencies: ["TagLink", "TextSafety", "VirtualTags"],
            path: "Sources/VirtualTags/TagImages",
            swiftSettings: strict
        ),

        // Reader drivers. They import neither each other nor modules for the contents of tags.
        .target(
            name: "PCSCDriver",
            dependencies: ["LinuxSupport", "TagLink"],
            path: "Sources/Readers/PCSCDriver",
            swiftSettings: strict
        ),
        .target(
            name: "PN532Driver",
            dependencies: ["LinuxSupport", "TagLink"],
            path: "Sources/Readers/PN532Driver",
            swiftSettings: strict
        ),

        .target(
            name: "SimulatorDriver",
            dependencies: ["LinuxSupport", "TagLink", "TextSafety"],
            path: "Sources/Readers/SimulatorDriver",
            swiftSettings: strict
        ),

        // Emulated readers for other software: the driver that pcscd loads, and the code that answers it.
        .target(
            name: "CIFDHandler",
            path: "Sources/Readers/CIFDHandler",
            linkerSettings: [.linkedLibrary("pthread")] + hardened
        ),
        .target(
            name: "ReaderEmulation",
            dependencies: ["CLinuxSupport", "LinuxSupport", "TagLink", "TagProtocols", "TagTrace"],
            path: "Sources/Readers/ReaderEmulation",
            swiftSettings: strict
        ),

        // Sessions, their turns, time and the sheet.
        .target(
            name: "NFCSessions",
            dependencies: ["LinuxSupport", "TagLink", "TagProtocols", "TextSafety"],
            path: "Sources/Sessions/NFCSessions",
            swiftSettings: strict
        ),
        // The kinds of readers, and the environment of a process.
        .target(
            name: "NFCReaders",
            dependencies: [
                "LinuxSupport", "NFCSessions", "PCSCDriver", "PN532Driver", "ReaderEmulation", "SimulatorDriver",
                "TagImages", "TagLink", "TagProtocols", "TagTrace", "TextSafety", "VirtualTags",
            ],
            path: "Sources/Sessions/NFCReaders",
            swiftSettings: strict
        ),
        // In mode 5, so that clients see its types like those of an Objective-C framework: not Sendable, and without a
        // diagnostic in clients that import it with @preconcurrency or use mode 5 themselves. dev/check-concurrency
        // checks its own code in mode 6.
        .target(
            name: "CoreNFC",
            dependencies: [
                "LinuxSupport", "NDEF", "NFCReaders", "NFCSessions", "TagLink", "TagProtocols", "TextSafety",
            ],
            path: "Sources/Framework/CoreNFC",
            swiftSettings: strict + [.swiftLanguageMode(.v5)]
        ),
        // Delivers to an app the links of tags that were read in the background.
        .target(
            name: "UserActivityReceiving",
            dependencies: ["BackgroundTagReading", "CoreNFC", "NFCReaders", "UserBus"],
            path: "Sources/Framework/UserActivityReceiving",
            swiftSettings: strict
        ),
        // Shows an app's screens on the phone of a simulator.
        .target(
            name: "PhoneScreens",
            dependencies: ["NFCReaders", "TextSafety"],
            path: "Sources/Framework/PhoneScreens",
            swiftSettings: strict
        ),
        // Functions of Swift and Foundation that read a clock. It replaces them in the whole program, so only the test
        // kit may depend on it.
        .target(name: "CClockReading", path: "Sources/Framework/CClockReading"),
        .target(
            name: "NFCTestKit",
            dependencies: [
                "CClockReading", "CoreNFC", "LinuxSupport", "NDEF", "NFCReaders", "NFCSessions", "TagImages", "TagLink",
                "TagProtocols", "TagTrace", "VirtualTags",
            ],
            path: "Sources/Framework/NFCTestKit",
            swiftSettings: strict
        ),

        .executableTarget(
            name: "nfc",
            dependencies: [
                "BackgroundTagReading", "CardCryptography", "LinkDelivery", "LinuxSupport", "NDEF", "NFCReaders",
                "NFCSessions", "ReaderEmulation", "TagImages", "TagLink", "TagProtocols", "TagTrace", "TextSafety",
                "UniversalLinks", "UserBus", "VirtualTags",
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
                "BackgroundTagReading", "LinkDelivery", "LinuxSupport", "NFCReaders", "NFCSessions", "TagLink",
                "TagTrace", "TextSafety", "UserBus",
            ],
            path: "Sources/Tools/nfcd",
            swiftSettings: strict + [.defaultIsolation(MainActor.self)],
            linkerSettings: hardened
        ),
        .executableTarget(
            name: "TagReader",
            dependencies: ["CoreNFC", "PhoneScreens", "TextSafety", "UserActivityReceiving"],
            path: "Examples/TagReader",
            // The files of the app's bundle, and the files for installing the example.
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

        // Sets how many tests run in parallel. The loop at the end of this file adds it to every test target.
        .target(name: "CTestSetup", path: "Tests/TestSupport/CTestSetup"),
        // Waiting, and threads for tests that wait for a program.
        .target(name: "TestThreads", path: "Tests/TestSupport/TestThreads", swiftSettings: strict),
        // Programs that tests write and run.
        .target(
            name: "ProgramTesting",
            dependencies: ["LinuxSupport"],
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
            dependencies: ["PN532Driver", "TagLink"],
            path: "Tests/TestSupport/ChipTesting",
            swiftSettings: strict
        ),
        // Emulated readers in a pcscd of their own.
        .target(
            name: "PCSCTesting",
            dependencies: [
                "CIFDHandler", "LinuxSupport", "PCSCDriver", "ReaderEmulation", "TestThreads", "VirtualTags",
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
            dependencies: ["LinuxSupport", "UserBus"],
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
            name: "TextSafetyTests",
            dependencies: ["TextSafety"],
            path: "Tests/Support/TextSafetyTests",
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
            name: "UserBusTests",
            dependencies: [
                "BackgroundTagReading", "BusTesting", "CSDBus", "LinuxSupport", "NDEF", "TestThreads", "UserBus",
            ],
            path: "Tests/Background/UserBusTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "LinkDeliveryTests",
            dependencies: [
                "BackgroundTagReading", "BusTesting", "CSDBus", "LinkDelivery", "LinuxSupport", "NDEF",
                "ProgramTesting", "TestThreads", "UniversalLinks", "UserBus",
            ],
            path: "Tests/Background/LinkDeliveryTests",
            exclude: ["site.py"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "UserActivityReceivingTests",
            dependencies: [
                "BackgroundTagReading", "BusTesting", "CoreNFC", "LinuxSupport", "NDEF", "TestThreads",
                "UserActivityReceiving", "UserBus",
            ],
            path: "Tests/Framework/UserActivityReceivingTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "LinuxSupportTests",
            dependencies: ["LinuxSupport", "ProgramTesting", "TestThreads"],
            path: "Tests/Support/LinuxSupportTests",
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
                "CardCryptography", "PropertyTesting", "TagImages", "TagLink", "TagProtocols", "TestThreads",
                "VirtualTags",
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
            name: "TagImagesTests",
            dependencies: ["PropertyTesting", "TagImages", "TagLink", "TagScripts", "VirtualTags"],
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
                "CIFDHandler", "LinuxSupport", "ReaderEmulation", "TagLink", "TestThreads", "VirtualTags",
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
                "ChipTesting", "LinuxSupport", "NFCReaders", "NFCSessions", "NFCTestKit", "PCSCDriver", "PCSCTesting",
                "PN532Driver", "PropertyTesting", "ReaderEmulation", "SessionTesting", "TagLink", "TagProtocols",
                "TagTrace", "TestThreads", "VirtualTags",
            ],
            path: "Tests/Sessions/NFCSessionsTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "NFCReadersTests",
            dependencies: [
                "ChipTesting", "LinuxSupport", "NFCReaders", "NFCSessions", "NFCTestKit", "PCSCDriver", "PCSCTesting",
                "PN532Driver", "ProgramTesting", "ReaderEmulation", "SessionTesting", "SimulatorTesting", "TagImages",
                "TagLink", "TagProtocols", "TagTrace", "TestThreads", "VirtualTags",
            ],
            path: "Tests/Sessions/NFCReadersTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "CoreNFCTests",
            dependencies: [
                "CIFDHandler", "CoreNFC", "LinuxSupport", "NFCReaders", "NFCSessions", "NFCTestKit", "PropertyTesting",
                "ReaderEmulation", "SourceCompatibilitySwift6", "TagLink", "TagProtocols", "TestThreads",
                "VirtualTags",
            ],
            path: "Tests/Framework/CoreNFCTests",
            exclude: ["Parity"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NFCTestKitTests",
            dependencies: [
                "CoreNFC", "NFCSessions", "NFCTestKit", "TagLink", "TagProtocols", "TestThreads", "VirtualTags",
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
                "CardCryptography", "CoreNFC", "NFCTestKit", "SourceCompatibilitySwift5", "SourceCompatibilitySwift6",
                "TagImages", "TagLink", "VirtualTags",
            ],
            path: "Tests/Framework/SourceCompatibilityTests",
            exclude: ["Forms", "Swift5", "Swift6"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "BackgroundTagReading", "CSDBus", "FirstScan", "LinkDelivery", "LinuxSupport", "NDEF", "nfc", "nfcd",
                "NFCReaders", "NFCSessions", "ProgramTesting", "ReaderEmulation", "TagImages", "TagLink",
                "TagProtocols", "TagReader", "TagTrace", "TestThreads", "UserBus", "VirtualTags",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Tools/CommandLineTests",
            exclude: ["Cases", "Images", "LinkageProbe.swift"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "BackgroundTagReading", "CSDBus", "FirstScan", "LinkDelivery", "LinuxSupport", "NDEF", "nfc", "nfcd",
                "NFCReaders", "ProgramTesting", "TagReader", "TestThreads", "UserBus",
            ],
            path: "Tests/Tools/DaemonTests",
            exclude: ["bus_peer.py"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SampleAppTests",
            dependencies: [
                "BackgroundTagReading", "CSDBus", "FirstScan", "LinkDelivery", "NDEF", "nfc", "nfcd",
                "ProgramTesting", "TagReader", "TestThreads", "UserBus",
            ],
            path: "Tests/Tools/SampleAppTests",
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type == .test { target.dependencies.append("CTestSetup") }

// A separate build, such as the one for ThreadSanitizer, can be limited to some test targets, without the programs.
if let named = Context.environment["OPENCORENFC_TEST_TARGETS"]?.split(whereSeparator: \.isWhitespace).map(String.init) {
    package.targets.removeAll { $0.type == .executable || $0.type == .test && !named.contains($0.name) }
    package.products.removeAll { $0 is Product.Executable }
}
