// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// In Swift 5 mode, like most apps that pass Core NFC's tags to async functions: they are not Sendable in Apple's SDK.
var settings: [SwiftSetting] = [.swiftLanguageMode(.v5)]
var frameworks: [Target.Dependency] = []
var tests: [Target] = []

// On Apple's platforms this package has no dependency: it imports Apple's Core NFC, and its folder can be copied into an app's
// project. Only on Linux, where it is tested, it uses the framework and the virtual tags of the folder above.
#if os(Linux)
    let dependencies: [Package.Dependency] = [.package(name: "OpenCoreNFC", path: "..")]
    func root(_ names: String...) -> [Target.Dependency] {
        names.map { .product(name: $0, package: "OpenCoreNFC", condition: .when(platforms: [.linux])) }
    }
    settings.append(.treatAllWarnings(as: .error))
    frameworks = root("CoreNFC")
    tests = [
        .testTarget(
            name: "NFCRecorderTests",
            dependencies: ["NFCProbe", "NFCRecorder"]
                + root("CoreNFC", "NFCTestKit", "TagImages", "TagTrace", "VirtualTags"),
            swiftSettings: [.treatAllWarnings(as: .error), .swiftLanguageMode(.v6)]
        )
    ]
#else
    let dependencies: [Package.Dependency] = []
#endif

let package = Package(
    name: "NFCRecorder",
    platforms: [.iOS(.v17)],
    products: [
        .library(name: "NFCRecorder", targets: ["NFCRecorder"]),
        .library(name: "NFCProbe", targets: ["NFCProbe"]),
    ],
    dependencies: dependencies,
    targets: [
        .target(name: "NFCRecorder", dependencies: frameworks, swiftSettings: settings),
        // The questions, and the example's two screens.
        .target(name: "NFCProbe", dependencies: ["NFCRecorder"] + frameworks, swiftSettings: settings),
    ] + tests
)
