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

// Checks apps that use Core NFC, for `nfc lint`. A separate package, so that other builds don't need swift-syntax. It has no
// code for Linux alone, so it also runs on a Mac.
let package = Package(
    name: "NFCLint",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "nfc-lint", targets: ["nfc-lint"]),
        .library(name: "NFCLintRules", targets: ["NFCLintRules"]),
    ],
    dependencies: [
        .package(name: "OpenCoreNFC", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax.git", exact: "603.0.1"),
    ],
    targets: [
        // What a linter works with: the project, its sources, findings.
        .target(
            name: "NFCLintEngine",
            dependencies: [
                .product(name: "TextSafety", package: "OpenCoreNFC"),
                .product(name: "SwiftOperators", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ],
            swiftSettings: strict
        ),
        // A file for each rule.
        .target(
            name: "NFCLintRules",
            dependencies: [
                "NFCLintEngine",
                .product(name: "NDEF", package: "OpenCoreNFC"),
                .product(name: "UniversalLinks", package: "OpenCoreNFC"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "nfc-lint",
            dependencies: [
                "NFCLintEngine", "NFCLintRules",
                .product(name: "LinuxSupport", package: "OpenCoreNFC"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "NFCLintEngineTests",
            dependencies: ["NFCLintEngine", "NFCLintRules", "nfc-lint"],
            swiftSettings: strict
        ),
        .testTarget(name: "NFCLintRulesTests", dependencies: ["NFCLintEngine", "NFCLintRules"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
