// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// An app's Core NFC code, with bugs that are easily made, and the tests that find them.
let package = Package(
    name: "TestingYourApp",
    dependencies: [
        .package(name: "OpenCoreNFC", path: "../..")
    ],
    targets: [
        .target(name: "TicketApp", dependencies: [.product(name: "CoreNFC", package: "OpenCoreNFC")]),
        .target(name: "FixedTicketApp", dependencies: [.product(name: "CoreNFC", package: "OpenCoreNFC")]),
        .testTarget(
            name: "TicketAppTests",
            dependencies: [
                "TicketApp", "FixedTicketApp", .product(name: "NFCTestKit", package: "OpenCoreNFC"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
