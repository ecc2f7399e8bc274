// SPDX-License-Identifier: Apache-2.0
@preconcurrency import CoreNFC
import Foundation

/// Records an app's commands to a tag and the tag's answers, as a recording of OpenCoreNFC: `nfc trace FILE` prints it, and
/// `NFC_READER=replay:FILE` gives the same answers to the same code.
///
/// ```swift
/// let recorder = CommandRecorder(.iso14443)
/// let tag = recorder.recording(miFareTag)
/// let pages = try await tag.sendMiFareCommand(commandPacket: Data([0x30, 4]))
/// try recorder.file.write(to: url)
/// ```
///
/// Use a recorder for one tag. Its copy of the tag has methods of the same names as Apple's. Passwords of PWD AUTH, VERIFY and
/// ICODE, and the card key of FeliCa Lite, are replaced by zeros; a new password that the app writes to a page is not.
public final class CommandRecorder: @unchecked Sendable {
    // Safe: the properties are only accessed while the lock is held.
    private let lock = NSLock()
    private let start = ProcessInfo.processInfo.systemUptime
    private let options: NFCTagReaderSession.PollingOption
    private let systemCodes: [String]
    private var lines: [String] = []
    private var exchanges = 0

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - options: those of the app's session. A replay needs a session that looks for the same tags.
    ///   - systemCodes: the FeliCa system codes of the app's property list.
    public init(_ options: NFCTagReaderSession.PollingOption, systemCodes: [String] = ["ffff"]) {
        self.options = options
        self.systemCodes = systemCodes
    }

    /// The recording so far. It ends as if the app now ended its session.
    public var file: Data {
        let now = now
        return lock.withLock {
            let end = [line(["us": now, "do": "release"]), line(["us": now, "done": true])]
            return Data(((lines + end).joined(separator: "\n") + "\n").utf8)
        }
    }

    /// Returns a tag that records its commands.
    public func recording<Tag>(_ tag: Tag) -> RecordedTag<Tag> {
        let (technology, members) = Self.description(of: tag)
        begin(technology, members, application: (tag as? any NFCISO7816Tag)?.initialSelectedAID ?? "")
        return RecordedTag(
            tag: tag,
            recorder: self,
            technology: members["maximum_command_length"] == nil ? technology : nil
        )
    }

    private static func description(of tag: Any) -> (technology: String, members: [String: Any]) {
        // What iOS does not reveal has the usual values.
        let card: [String: Any] = [
            "maximum_command_length": 65_544, "maximum_response_length": 65_538,
            "block_command_length": 253, "block_response_length": 253,
        ]
        func typeA(_ uid: Data, _ historical: Data?) -> [String: Any] {
            let ats = TagDump.answerToSelect(historical)
            return card.merging(["atqa": "0344", "sak": "20", "uid": uid.hex, "ats": ats]) { $1 }
        }
        switch tag {
        case let tag as any NFCMiFareTag where tag.mifareFamily == .ultralight || tag.mifareFamily == .unknown:
            let members =
                ["atqa": "0044", "sak": "00", "uid": tag.identifier.hex, "maximum_frame_length": 256] as [String: Any]
            return ("nfc-a", members)
        case let tag as any NFCMiFareTag: return ("nfc-a", typeA(tag.identifier, tag.historicalBytes))
        case let tag as any NFCISO7816Tag:
            guard let data = tag.applicationData else { return ("nfc-a", typeA(tag.identifier, tag.historicalBytes)) }
            let answer = Data([0x50]) + tag.identifier + data + Data([0x00, 0x81, 0x71])
            return ("nfc-b", card.merging(["atqb": answer.hex]) { $1 })
        case let tag as any NFCFeliCaTag:
            let members: [String: Any] = [
                "idm": tag.currentIDm.hex, "pmm": "ffffffffffffffff", "system": tag.currentSystemCode.hex,
            ]
            return ("nfc-f", members.merging(["maximum_frame_length": 256]) { $1 })
        case let tag as any NFCISO15693Tag:
            return ("nfc-v", ["uid": tag.identifier.hex, "dsfid": "00", "maximum_frame_length": 256])
        default: return ("nfc-a", [:])
        }
    }

    // MARK: Lines

    private func begin(_ technology: String, _ tag: [String: Any], application: String) {
        var technologies: [String] = []
        if options.contains(.iso14443) { technologies += ["nfc-a", "nfc-b"] }
        if options.contains(.iso18092) { technologies.append("nfc-f") }
        if options.contains(.iso15693) { technologies.append("nfc-v") }
        lock.withLock {
            (lines, exchanges) = ([], 0)
            // A recording is known by its first bytes, so this member has to come first.
            let header = line([
                "reader": "iPhone", "kind": "discovering", "technologies": technologies, "maximum_frame_length": 256,
                "tells_presence": true,
            ])
            lines.append("{\"opencorenfc_recording\":1," + header.dropFirst())
            write([
                "us": 0, "do": "discover", "technologies": technologies, "systems": systemCodes.map { $0.lowercased() },
            ])
            write(tag.merging(["tag": 1, "technology": technology]) { $1 })
            write(["us": 0, "found": 1])
            let identifier = tag["idm"] ?? tag["uid"] ?? ""
            // With the number of its arrival, a replay sends no command to check whether the tag is still near.
            write(["us": 0, "do": "arrival", "uid": identifier, "number": 1])
            write(["us": 0, "do": "select", "tag": 1])
            write(["us": 0, "done": true])
        }
        // The system selects the application, and does not reveal the card's answer.
        guard !application.isEmpty else { return }
        let count = String(format: "%02x", application.count / 2)
        add("00a40400\(count)\(application.lowercased())00", technology: nil, outcome: ["got": "9000"], sent: 0)
    }

    fileprivate var now: Int { Int((ProcessInfo.processInfo.systemUptime - start) * 1_000_000) }

    fileprivate func add(_ request: String, technology: String?, outcome: [String: Any], sent: Int) {
        lock.withLock {
            exchanges += 1
            var call: [String: Any] = ["n": exchanges, "us": sent, "do": "send", "tag": 1, "hex": request]
            if let technology {
                call["technology"] = technology
                call["timeout_us"] = 0
            }
            write(call)
            write(outcome.merging(["n": exchanges, "us": max(sent, now)]) { $1 })
        }
    }

    private func write(_ object: [String: Any]) { lines.append(line(object)) }

    private func line(_ object: [String: Any]) -> String {
        let json = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
        return String(decoding: json ?? Data(), as: UTF8.self)
    }
}

/// A tag whose commands are recorded. ``CommandRecorder/recording(_:)`` creates it.
public struct RecordedTag<Tag> {
    /// The tag itself, for what needs no recording.
    public let tag: Tag
    fileprivate let recorder: CommandRecorder
    /// The technology of its frames; nil for a card, which has APDUs.
    fileprivate let technology: String?

    fileprivate func record<Answer>(
        _ request: Data,
        secrets: Range<Int>? = nil,
        _ bytes: (Answer) -> Data,
        _ send: () async throws -> Answer
    ) async throws -> Answer {
        var shown = [UInt8](request)
        if let secrets = secrets?.clamped(to: shown.indices) {
            for index in secrets { shown[index] = 0 }
        }
        let sent = recorder.now
        do {
            let answer = try await send()
            recorder.add(Data(shown).hex, technology: technology, outcome: ["got": bytes(answer).hex], sent: sent)
            return answer
        } catch {
            let outcome = ["failed": "timeout", "reason": error.localizedDescription]
            recorder.add(Data(shown).hex, technology: technology, outcome: outcome, sent: sent)
            throw error
        }
    }

    fileprivate func record(
        _ apdu: NFCISO7816APDU,
        _ send: () async throws -> (Data, UInt8, UInt8)
    ) async throws -> (Data, UInt8, UInt8) {
        let data = apdu.data ?? Data()
        let length = apdu.expectedResponseLength
        var bytes = Data([apdu.instructionClass, apdu.instructionCode, apdu.p1Parameter, apdu.p2Parameter])
        // Lc and Le have one byte each, or two if either needs them (ISO/IEC 7816-4, 5.1).
        let isLong = data.count > 255 || length > 256
        func append(_ count: Int) {
            bytes += isLong ? [UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)] : [UInt8(count & 0xFF)]
        }
        if isLong { bytes.append(0) }
        if !data.isEmpty {
            append(data.count)
            bytes += data
        }
        let start = bytes.count - data.count
        if length >= 0 { append(length) }
        // VERIFY, CHANGE REFERENCE DATA and RESET RETRY COUNTER have PINs.
        let hasPIN = [0x20, 0x24, 0x2C].contains(apdu.instructionCode)
        let secrets = hasPIN ? start..<start + data.count : nil
        return try await record(bytes, secrets: secrets, { $0.0 + Data([$0.1, $0.2]) }, send)
    }
}

extension RecordedTag where Tag == any NFCISO7816Tag {
    /// Sends an APDU.
    public func sendCommand(apdu: NFCISO7816APDU) async throws -> (Data, UInt8, UInt8) {
        try await record(apdu) { try await tag.sendCommand(apdu: apdu) }
    }
}

extension RecordedTag where Tag == any NFCMiFareTag {
    /// Sends a native command.
    public func sendMiFareCommand(commandPacket command: Data) async throws -> Data {
        // PWD_AUTH has the password.
        let secrets = command.first == 0x1B ? 1..<5 : nil
        return try await record(command, secrets: secrets, { $0 }) {
            try await tag.sendMiFareCommand(commandPacket: command)
        }
    }

    /// Sends an APDU.
    public func sendMiFareISO7816Command(_ apdu: NFCISO7816APDU) async throws -> (Data, UInt8, UInt8) {
        try await record(apdu) { try await tag.sendMiFareISO7816Command(apdu) }
    }
}

extension RecordedTag where Tag == any NFCFeliCaTag {
    /// Sends a command. Core NFC adds its length.
    public func sendFeliCaCommand(commandPacket command: Data) async throws -> Data {
        let request = Data([UInt8(min(command.count + 1, 255))]) + command
        // WRITE WITHOUT ENCRYPTION (08) of the card key, block 87 of FeliCa Lite.
        let bytes = [UInt8](request)
        let writesKey = bytes.count == 32 && bytes[1] == 0x08 && bytes[15] == 0x87
        return try await record(request, secrets: writesKey ? 16..<32 : nil, { $0 }) {
            try await tag.sendFeliCaCommand(commandPacket: command)
        }
    }

    /// Reads blocks: READ WITHOUT ENCRYPTION (06).
    public func readWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data]
    ) async throws -> (Int, Int, [Data]) {
        let idm = tag.currentIDm
        var command = Data([0, 0x06]) + idm + Data([UInt8(serviceCodeList.count)]) + Data(serviceCodeList.joined())
        command += Data([UInt8(blockList.count)]) + Data(blockList.joined())
        command[0] = UInt8(command.count)
        func answer(_ answer: (Int, Int, [Data])) -> Data {
            var bytes = Data([0, 0x07]) + idm + Data([UInt8(answer.0 & 0xFF), UInt8(answer.1 & 0xFF)])
            if answer.0 == 0 { bytes += Data([UInt8(answer.2.count)]) + Data(answer.2.joined()) }
            bytes[0] = UInt8(bytes.count)
            return bytes
        }
        return try await record(command, answer) {
            try await tag.readWithoutEncryption(serviceCodeList: serviceCodeList, blockList: blockList)
        }
    }
}

extension RecordedTag where Tag == any NFCISO15693Tag {
    /// Sends any command. `flags` are the flags of ISO/IEC 15693-3, 7.3.1.
    public func sendRequest(
        requestFlags flags: Int,
        commandCode: Int,
        data: Data?
    ) async throws -> (NFCISO15693ResponseFlag, Data?) {
        let request = Data([UInt8(flags & 0xFF), UInt8(commandCode & 0xFF)]) + (data ?? Data())
        return try await record(request, { Data([$0.0.rawValue]) + ($0.1 ?? Data()) }) {
            try await tag.sendRequest(requestFlags: flags, commandCode: commandCode, data: data)
        }
    }

    /// Sends a custom command. The system adds the manufacturer's code.
    public func customCommand(
        requestFlags flags: NFCISO15693RequestFlag,
        customCommandCode code: Int,
        customRequestParameters parameters: Data
    ) async throws -> Data {
        let request = Data([flags.rawValue, UInt8(code & 0xFF), UInt8(tag.icManufacturerCode & 0xFF)]) + parameters
        // The passwords of ICODE and ST25; those of DESTROY and ENABLE PRIVACY come without a number.
        let start = [0xB1, 0xB3, 0xB4].contains(code) ? 4 : [0xB9, 0xBA].contains(code) ? 3 : request.count
        let secrets = start < request.count ? start..<request.count : nil
        return try await record(request, secrets: secrets, { Data([0]) + $0 }) {
            try await tag.customCommand(
                requestFlags: flags,
                customCommandCode: code,
                customRequestParameters: parameters
            )
        }
    }

    /// Reads a block.
    public func readSingleBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8) async throws -> Data {
        try await record(addressed(flags, 0x20, Data([blockNumber])), { Data([0]) + $0 }) {
            try await tag.readSingleBlock(requestFlags: flags, blockNumber: blockNumber)
        }
    }

    /// Writes a block.
    public func writeSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        dataBlock: Data
    ) async throws {
        try await record(addressed(flags, 0x21, Data([blockNumber]) + dataBlock), { _ in Data([0]) }) {
            try await tag.writeSingleBlock(requestFlags: flags, blockNumber: blockNumber, dataBlock: dataBlock)
        }
    }

    private func addressed(_ flags: NFCISO15693RequestFlag, _ code: UInt8, _ parameters: Data) -> Data {
        guard !flags.contains(.select) else { return Data([flags.rawValue, code]) + parameters }
        return Data([flags.rawValue | 0x20, code]) + Data(tag.identifier.reversed()) + parameters
    }
}
