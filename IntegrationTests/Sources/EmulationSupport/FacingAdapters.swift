// SPDX-License-Identifier: Apache-2.0
public import Foundation
import PeerSupport

/// Two PN532 of `nfc emulate` in each other's field, on serial lines in their own folder.
public final class FacingAdapters {
    /// The folder, for what foreign programs read and write.
    public let folder: URL
    private let program: TalkingProgram

    /// Starts both, and waits until programs can find them.
    public init() async throws {
        folder = URL(fileURLWithPath: "/tmp/ocn-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        program = try TalkingProgram(
            EmulatedTag.tool.path,
            ["emulate", "--pn532", folder.path + "/reader", "--facing", folder.path + "/card", "--json"]
        )
        try await program.line(with: #""event":"ready""#)
    }

    deinit {
        program.send(signal: SIGKILL)
        try? FileManager.default.removeItem(at: folder)
    }

    /// The environment variables with which a libnfc program is the card.
    public var cardEnvironment: [String: String] {
        ["LIBNFC_DEVICE": "pn532_uart:\(folder.path)/card", "LIBNFC_LOG_LEVEL": "0"]
    }

    /// The environment variables with which one of our programs is the reader.
    public var readerEnvironment: [String: String] { ["NFC_READER": "pn532:\(folder.path)/reader"] }

    /// Ends the tool by its process identifier.
    public func stop() async throws {
        program.send(signal: SIGTERM)
        let status = try await program.end(within: .seconds(10))
        guard status == 0 else {
            throw EmulatedTag.Failure(description: "nfc emulate ended with \(status): \(program.output)")
        }
    }
}
