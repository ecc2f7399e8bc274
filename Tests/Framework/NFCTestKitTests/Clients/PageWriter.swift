// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation

/// Writes an NDEF message to the pages of an NTAG by itself: a length of zero, the body, and the length last.
final class PageWriter: TagClient, @unchecked Sendable {
    private let message: [UInt8]

    init(_ message: [UInt8], bug: Bug = .none) {
        self.message = message
        super.init(.iso14443, bug: bug)
    }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .miFare(let tag) = tag else { throw Failure.wrongTag }
        var memory = [0x03, UInt8(message.count)] + message + [0xFE]
        while memory.count % 4 != 0 { memory.append(0) }
        let pages = memory.count / 4
        var body = Array(1..<pages)
        if bug == .lengthFirst {
            body.insert(0, at: 0)
        } else {
            try await write([0x03, 0, memory[2], memory[3]], to: 4, of: tag)
            body.append(0)
        }
        for page in body { try await write(Array(memory[(4 * page)..<(4 * page + 4)]), to: 4 + page, of: tag) }
        return "\(pages) pages"
    }

    @MainActor private func write(_ bytes: [UInt8], to page: Int, of tag: any NFCMiFareTag) async throws {
        let answer = try await tag.sendMiFareCommand(commandPacket: Data([0xA2, UInt8(page)] + bytes))
        // Four bits: ACK, or NAK with its reason.
        if answer != Data([0x0A]), bug != .ignoresNAK { throw Failure.refused }
    }
}
