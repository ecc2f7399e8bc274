// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import VirtualTags

/// A tag with a message, named as in the tests' output.
enum Sample: String, CaseIterable, Sendable {
    case type2, type3, type4, type5

    var contents: TagContents {
        switch self {
        case .type2: Samples.type2()
        case .type3: Samples.type3()
        case .type4: Samples.type4()
        case .type5: Samples.type5()
        }
    }

    /// Its UID or IDm in hexadecimal.
    var uid: String { contents.uid.map { String(format: "%02x", $0) }.joined() }
}

/// A tag on a reader of a private pcscd.
struct Desk {
    let tag: EmulatedTag
    let daemon: PCSCDaemon

    init(_ sample: Sample) async throws {
        tag = try await EmulatedTag(sample.contents, on: .reader(name: nil))
        daemon = try PCSCDaemon([tag.configuration])
    }

    /// Ends everything, and returns the content of the tag.
    func close() async throws -> TagContents {
        try await daemon.stop()
        return try await tag.stop()
    }
}
