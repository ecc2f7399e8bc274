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

// Tests against programs of other projects. Each of these peers has its own target in Tests, with its script beside the
// Swift files. PeerSupport has the code to run programs, and EmulationSupport the code that shows our tags to foreign
// readers.
let package = Package(
    name: "IntegrationTests",
    dependencies: [
        .package(name: "OpenCoreNFC", path: "..")
    ],
    targets: [
        .target(name: "CSpawnActions"),
        .target(name: "PeerSupport", dependencies: ["CSpawnActions"], swiftSettings: strict),
        .testTarget(
            name: "NfcpyTests",
            dependencies: [
                "PeerSupport",
                .product(name: "NDEF", package: "OpenCoreNFC"),
                .product(name: "TagLink", package: "OpenCoreNFC"),
                .product(name: "TagProtocols", package: "OpenCoreNFC"),
                .product(name: "VirtualTags", package: "OpenCoreNFC"),
            ],
            exclude: ["nfcpy_peer.py"],
            swiftSettings: strict
        ),
        .target(
            name: "EmulationSupport",
            dependencies: [
                "PeerSupport", .product(name: "TagImages", package: "OpenCoreNFC"),
                .product(name: "VirtualTags", package: "OpenCoreNFC"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PCSCTests",
            dependencies: [
                "EmulationSupport", "PeerSupport",
                .product(name: "VirtualTags", package: "OpenCoreNFC"),
            ],
            exclude: ["installed_reader.sh", "openpace_peer.py", "pyscard_peer.py", "same_interface.c"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "SessionProbe",
            dependencies: [.product(name: "CoreNFC", package: "OpenCoreNFC")],
            // In Swift 5 mode, as most apps: sessions and tags are not Sendable, and this app passes them between threads.
            swiftSettings: strict + [.swiftLanguageMode(.v5)]
        ),
        .executableTarget(
            name: "FlowProbe",
            dependencies: [
                .product(name: "CoreNFC", package: "OpenCoreNFC"),
                .product(name: "NFCTestKit", package: "OpenCoreNFC"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PCSCSessionTests",
            dependencies: [
                "EmulationSupport", "FlowProbe", "PeerSupport", "SessionProbe",
                .product(name: "VirtualTags", package: "OpenCoreNFC"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LibnfcTests",
            dependencies: [
                "EmulationSupport", "PeerSupport", "SessionProbe",
                .product(name: "TagLink", package: "OpenCoreNFC"),
                .product(name: "TagProtocols", package: "OpenCoreNFC"),
                .product(name: "VirtualTags", package: "OpenCoreNFC"),
            ],
            exclude: ["libnfc_peer.py"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NfcpySerialTests",
            dependencies: [
                "EmulationSupport", "PeerSupport",
                .product(name: "VirtualTags", package: "OpenCoreNFC"),
            ],
            exclude: ["nfcpy_command_peer.py", "nfcpy_serial_peer.py"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "BackgroundServiceTests",
            dependencies: [
                "EmulationSupport", "PeerSupport",
                .product(name: "NDEF", package: "OpenCoreNFC"),
                .product(name: "TagImages", package: "OpenCoreNFC"),
                .product(name: "VirtualTags", package: "OpenCoreNFC"),
            ],
            exclude: ["desktop_peer.py", "systemd_peer.sh"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "OpenPGPTests",
            dependencies: [
                "PeerSupport",
                .product(name: "CoreNFC", package: "OpenCoreNFC"),
                .product(name: "NFCSessions", package: "OpenCoreNFC"),
                .product(name: "PCSCDriver", package: "OpenCoreNFC"),
                .product(name: "TagLink", package: "OpenCoreNFC"),
            ],
            exclude: ["openpgp_peer.py"],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
