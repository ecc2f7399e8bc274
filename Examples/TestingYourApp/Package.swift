// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// The NFC code of an iOS app with common bugs, and the tests that find them.
let package = Package(
    name: "TestingYourApp",
    platforms: [.iOS(.v17)],
    products: [
        .library(name: "TicketApp", targets: ["TicketApp"])
    ],
    dependencies: [
        // In your own package, use .package(url: "…", branch: "main"); see the test kit's documentation.
        .package(name: "OpenCoreNFC", path: "../..")
    ],
    targets: [
        .target(
            name: "TicketApp",
            dependencies: [
                .product(name: "CoreNFC", package: "OpenCoreNFC", condition: .when(platforms: [.linux]))
            ]
        ),
        .target(
            name: "FixedTicketApp",
            dependencies: [
                .product(name: "CoreNFC", package: "OpenCoreNFC", condition: .when(platforms: [.linux]))
            ]
        ),
        .testTarget(
            name: "TicketAppTests",
            dependencies: [
                "TicketApp", "FixedTicketApp",
                .product(name: "NFCTestKit", package: "OpenCoreNFC", condition: .when(platforms: [.linux])),
            ],
            exclude: ["Failures"]
        ),
        // The program of the tutorial, which is for Linux, and its tests.
        .executableTarget(
            name: "CardReader",
            dependencies: [
                .product(name: "CoreNFC", package: "OpenCoreNFC", condition: .when(platforms: [.linux])),
                .product(name: "PhoneScreens", package: "OpenCoreNFC", condition: .when(platforms: [.linux])),
            ],
            resources: [.copy("Resources")],
            swiftSettings: [.defaultIsolation(MainActor.self)]
        ),
        .testTarget(
            name: "CardReaderTests",
            dependencies: [
                "CardReader",
                .product(name: "CoreNFC", package: "OpenCoreNFC", condition: .when(platforms: [.linux])),
                .product(name: "NFCTestKit", package: "OpenCoreNFC", condition: .when(platforms: [.linux])),
            ]
        ),
        // Tests in Swift 5 mode, which many apps still use.
        .testTarget(
            name: "TicketAppSwift5Tests",
            dependencies: [
                "FixedTicketApp",
                .product(name: "NFCTestKit", package: "OpenCoreNFC", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
    ],
    swiftLanguageModes: [.v6]
)
