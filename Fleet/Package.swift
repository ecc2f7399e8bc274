// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

/// Products of the root.
func root(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "OpenCoreNFC") }
}

let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let database = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

// Readers on many machines over MQTT. A separate package, so that other builds need neither libmosquitto, libsodium nor SQLite.
let package = Package(
    name: "Fleet",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "nfc-agent", targets: ["nfc-agent"]),
        .executable(name: "nfc-fleet", targets: ["nfc-fleet"]),
    ],
    dependencies: [
        .package(name: "OpenCoreNFC", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/LebJe/TOMLKit.git", from: "0.6.0"),
    ],
    targets: [
        // libmosquitto with its own header.
        .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        // libsodium with its own header, for signed jobs.
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        // What the system reports about a TCP connection, which Swift's Glibc leaves out.
        .target(name: "CSocketState"),
        // epoll, which Swift's Glibc leaves out.
        .systemLibrary(name: "CEpoll"),
        // Topics, events, jobs, configuration: rules without input or output.
        .target(
            name: "FleetModel",
            dependencies: ["CSodium", .product(name: "TOMLKit", package: "TOMLKit")]
                + root("BackgroundTagReading", "NDEF", "TagLink", "TagProtocols", "UniversalLinks", "TextSafety"),
            swiftSettings: strict
        ),
        // The file of a node: what waits, what was sent, the journal of jobs.
        .target(
            name: "FleetSpool",
            dependencies: ["FleetModel", database] + root("LinuxSupport"),
            swiftSettings: strict
        ),
        // A connection to a broker.
        .target(
            name: "FleetMQTT",
            dependencies: ["CEpoll", "CMosquitto", "CSocketState", "FleetModel"] + root("LinuxSupport"),
            swiftSettings: strict
        ),
        // Readers, spool and connection put together.
        .target(
            name: "FleetAgent",
            dependencies: ["FleetModel", "FleetMQTT", "FleetSpool"]
                + root(
                    "BackgroundTagReading",
                    "NFCReaders",
                    "NFCSessions",
                    "LinuxSupport",
                    "TagLink",
                    "TagProtocols",
                    "TextSafety",
                    "UniversalLinks"
                ),
            swiftSettings: strict
        ),
        .executableTarget(
            name: "nfc-agent",
            dependencies: [arguments, "FleetAgent", "FleetModel", "FleetMQTT", "FleetSpool"]
                + root("LinuxSupport", "TextSafety"),
            swiftSettings: strict
        ),
        .executableTarget(
            name: "nfc-fleet",
            dependencies: [arguments, "FleetModel", "FleetMQTT"]
                + root("NDEF", "LinuxSupport", "TagImages", "VirtualTags", "TextSafety"),
            swiftSettings: strict
        ),
        // Many nodes with virtual tags, for the benchmark and the tests of the whole fleet.
        .executableTarget(
            name: "fleet-load",
            dependencies: [arguments, "FleetAgent", "FleetModel", "FleetMQTT", "FleetSpool"]
                + root("NFCSessions", "TagLink", "VirtualTags"),
            path: "Benchmark/FleetLoad",
            swiftSettings: strict
        ),
        // A broker, a client and a node for tests.
        .target(
            name: "FleetTestSupport",
            dependencies: ["FleetAgent", "FleetModel", "FleetMQTT", "FleetSpool"]
                + root("NFCSessions", "TagLink", "VirtualTags"),
            path: "Tests/FleetTestSupport",
            swiftSettings: strict
        ),
        // Stores events until a test kills it.
        .executableTarget(
            name: "spool-writer",
            dependencies: ["FleetModel", "FleetSpool"],
            path: "Tests/SpoolWriter",
            swiftSettings: strict
        ),
        .testTarget(
            name: "FleetModelTests",
            dependencies: ["FleetModel"] + root("BackgroundTagReading", "NDEF", "TagLink", "TagProtocols"),
            swiftSettings: strict
        ),
        .testTarget(
            name: "FleetSpoolTests",
            dependencies: ["FleetModel", "FleetSpool", "FleetTestSupport", "spool-writer"],
            swiftSettings: strict
        ),
        .testTarget(name: "FleetMQTTTests", dependencies: ["FleetMQTT"], swiftSettings: strict),
        .testTarget(
            name: "FleetAgentTests",
            dependencies: [
                "FleetAgent", "FleetModel", "FleetMQTT", "FleetSpool", "FleetTestSupport", "nfc-agent",
                "nfc-fleet",
            ] + root("NDEF", "TagLink", "TagProtocols", "VirtualTags"),
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
