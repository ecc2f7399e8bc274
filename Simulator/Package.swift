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

/// Products of the root that both the model and the server use.
func root(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "OpenCoreNFC") }
}

// A phone and a drawer of tags in the browser, for `nfc simulator`. A separate package, so that other builds don't need a web server.
let package = Package(
    name: "Simulator",
    products: [
        .executable(name: "nfc-simulator", targets: ["nfc-simulator"]),
        .library(name: "SimulatorModel", targets: ["SimulatorModel"]),
        .library(name: "SimulatorServer", targets: ["SimulatorServer"]),
    ],
    dependencies: [
        .package(name: "OpenCoreNFC", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/swhitty/FlyingFox.git", from: "0.26.0"),
    ],
    targets: [
        // The phone, the drawer, the field, the trace: rules without a socket.
        .target(
            name: "SimulatorModel",
            dependencies: root(
                "BackgroundTagReading",
                "NDEF",
                "NFCSessions",
                "TagImages",
                "TagLink",
                "TagProtocols",
                "TagTrace",
                "UniversalLinks",
                "TextSafety",
                "VirtualTags"
            ),
            swiftSettings: strict
        ),
        // HTTP, the WebSocket, the local socket, files.
        .target(
            name: "SimulatorServer",
            dependencies: [
                "SimulatorModel",
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ] + root("BackgroundTagReading", "LinuxSupport", "UniversalLinks"),
            resources: [.copy("Page")],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "nfc-simulator",
            dependencies: [
                "SimulatorModel", "SimulatorServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ] + root("LinuxSupport", "TagImages"),
            swiftSettings: strict
        ),
        .testTarget(
            name: "SimulatorModelTests",
            dependencies: ["SimulatorModel"]
                + root(
                    "BackgroundTagReading",
                    "CoreNFC",
                    "NDEF",
                    "NFCSessions",
                    "TagImages",
                    "TagLink",
                    "TagTrace",
                    "UniversalLinks",
                    "VirtualTags"
                ),
            swiftSettings: strict
        ),
        // The tests that "Copy as test" has generated. They must compile and pass.
        .testTarget(
            name: "SimulatedFlowTests",
            dependencies: root("CoreNFC", "NFCTestKit"),
            swiftSettings: [.treatAllWarnings(as: .error)]
        ),
        .testTarget(
            name: "SimulatorServerTests",
            dependencies: ["SimulatorModel", "SimulatorServer", "nfc-simulator"],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
