// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

// Measures the speed of the package. Every benchmark is an executable, and depends only on the package itself.
let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "OpenCoreNFC", path: "..")
    ],
    targets: [
        .executableTarget(
            name: "ndef-benchmark",
            dependencies: [.product(name: "NDEF", package: "OpenCoreNFC")],
            path: "Sources/NDEFBenchmark",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "command-benchmark",
            dependencies: [
                "ProcessFigures",
                .product(name: "CoreNFC", package: "OpenCoreNFC"),
                .product(name: "NFCSessions", package: "OpenCoreNFC"),
                .product(name: "TagLink", package: "OpenCoreNFC"),
                .product(name: "VirtualTags", package: "OpenCoreNFC"),
            ],
            path: "Sources/CommandBenchmark",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "link-benchmark",
            dependencies: [.product(name: "UniversalLinks", package: "OpenCoreNFC")],
            path: "Sources/LinkBenchmark",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "scan-benchmark",
            dependencies: ["PlainScans", "ProcessFigures"],
            path: "Sources/ScanBenchmark",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "fault-benchmark",
            dependencies: [
                "PlainScans",
                .product(name: "CoreNFC", package: "OpenCoreNFC"),
                .product(name: "NFCTestKit", package: "OpenCoreNFC"),
            ],
            path: "Sources/FaultBenchmark",
            swiftSettings: strict
        ),
        .target(
            name: "PlainScans",
            dependencies: [
                .product(name: "CoreNFC", package: "OpenCoreNFC"),
                .product(name: "NFCSessions", package: "OpenCoreNFC"),
                .product(name: "TagLink", package: "OpenCoreNFC"),
                .product(name: "VirtualTags", package: "OpenCoreNFC"),
            ],
            swiftSettings: strict
        ),
        .target(name: "ProcessFigures", swiftSettings: strict),
        .target(name: "CCardLoop"),
        .executableTarget(
            name: "pcsc-benchmark",
            dependencies: [
                "CCardLoop", "ProcessFigures",
                .product(name: "PCSCDriver", package: "OpenCoreNFC"),
                .product(name: "TagLink", package: "OpenCoreNFC"),
            ],
            path: "Sources/PCSCBenchmark",
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
