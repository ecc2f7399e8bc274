// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit

/// Reads the blocks of an ISO 15693 sensor, and counts how often it was read.
final class SensorReader: TagClient, @unchecked Sendable {
    init(bug: Bug = .none) { super.init(.iso15693, bug: bug) }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .iso15693(let tag) = tag else { throw Failure.wrongTag }
        let flags: NFCISO15693RequestFlag = [.highDataRate, .address]
        var values: [UInt8] = []
        for block in UInt8(8)..<12 {
            do {
                values += try await tag.readSingleBlock(requestFlags: flags, blockNumber: block)
            } catch {
                guard bug == .zerosForChunk else { throw error }
                values += [0, 0, 0, 0]
            }
        }
        try await tag.writeSingleBlock(requestFlags: flags, blockNumber: 20, dataBlock: Data([1, 2, 3, 4]))
        return values.map(String.init).joined(separator: " ")
    }
}

/// Selects an application of a card and reads a record, which comes in two parts.
final class AppletReader: TagClient, @unchecked Sendable {
    static let name: [UInt8] = [0xA0, 0, 0, 2, 0x47, 0x10, 1]
    static let app = AppProperties(
        infoPlist: [
            "NFCReaderUsageDescription": "Cards are read.",
            "com.apple.developer.nfc.readersession.iso7816.select-identifiers": ["A0000002471001"],
        ]
    )
    static let card = TagSpec.script([
        (command: [0, 0xA4, 4, 0, 7] + name + [0], answer: [0x90, 0]),
        (command: [0, 0xA4, 4, 0, 7] + name, answer: [0x90, 0]),
        (command: [0, 0xB2, 1, 4, 0], answer: Array("0123456789".utf8) + [0x61, 4]),
        (command: [0, 0xC0, 0, 0, 4], answer: Array("abcd".utf8) + [0x90, 0]),
    ])

    init(bug: Bug = .none) { super.init(.iso14443, bug: bug) }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .iso7816(let tag) = tag else { throw Failure.wrongTag }
        var (data, sw1, sw2) = try await send([0, 0xB2, 1, 4, 0], to: tag)
        while sw1 == 0x61, bug != .ignoresMoreData {
            let (more, next1, next2) = try await send([0, 0xC0, 0, 0, sw2], to: tag)
            data += more
            (sw1, sw2) = (next1, next2)
        }
        guard data.count == 14 else { throw Failure.damaged }
        return String(decoding: data, as: UTF8.self)
    }

    @MainActor private func send(_ command: [UInt8], to tag: any NFCISO7816Tag) async throws -> (Data, UInt8, UInt8) {
        guard let command = NFCISO7816APDU(data: Data(command)) else { throw Failure.damaged }
        return try await tag.sendCommand(apdu: command)
    }
}

/// Writes a block of a FeliCa card and reads it back.
final class PassWriter: TagClient, @unchecked Sendable {
    static let app = AppProperties(
        infoPlist: [
            "NFCReaderUsageDescription": "Cards are read.",
            "com.apple.developer.nfc.readersession.felica.systemcodes": ["88B4"],
        ]
    )

    init(bug: Bug = .none) { super.init(.iso18092, bug: bug) }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .feliCa(let tag) = tag else { throw Failure.wrongTag }
        let block = Data([0x80, 0x0C])
        let written = try await tag.writeWithoutEncryption(
            serviceCodeList: [Data([0x09, 0x00])],
            blockList: [block],
            blockData: [Data(1...16)]
        )
        guard written == (0, 0) else { throw Failure.refused }
        let (status, _, blocks) = try await tag.readWithoutEncryption(
            serviceCodeList: [Data([0x0B, 0x00])],
            blockList: [block]
        )
        guard status == 0, let first = blocks.first else { throw Failure.refused }
        return first.map(String.init).joined(separator: " ")
    }
}
