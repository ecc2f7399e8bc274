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

// Finds places in Swift sources where small bugs can be planted, for dev/mutate. A separate package, so that other builds
// don't need swift-syntax.
let package = Package(
    name: "Mutate",
    dependencies: [
        .package(url: "https://github.com/swiftlang/swift-syntax.git", exact: "603.0.1")
    ],
    targets: [
        .target(
            name: "Planting",
            dependencies: [
                .product(name: "SwiftOperators", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(name: "find-places", dependencies: ["Planting"], swiftSettings: strict),
        .testTarget(name: "PlantingTests", dependencies: ["Planting"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
