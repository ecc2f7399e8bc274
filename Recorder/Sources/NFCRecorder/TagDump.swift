// SPDX-License-Identifier: Apache-2.0
@preconcurrency import CoreNFC
import Foundation

/// The content of a tag, as a JSON image of OpenCoreNFC. `nfc`, the simulator and the test kit use the file as a virtual tag.
///
/// ```swift
/// let dump = try await TagDump(of: tag)
/// try dump.json.write(to: file)
/// ```
public struct TagDump: Sendable {
    /// The file.
    public let json: Data
    /// The product, such as `NTAG215`; `generic Type 4` and the like if only the type is known.
    public let product: String
    /// What the tag did not reveal, as sentences. The image has the values of a new tag there.
    public let unread: [String]

    /// Reads a connected tag. It writes nothing to the tag.
    ///
    /// A MIFARE Ultralight or NTAG is read page by page, and may be lost when this returns: the last command is one that not
    /// every product knows, and iOS drops a tag that refuses a command. Restart polling to use the tag again.
    ///
    /// The app's property list needs D2760000850101 for a Type 4 tag, and 12FC or 88B4 for a FeliCa tag.
    ///
    /// - Throws: ``RecorderError`` for a tag without an image, or an error of Core NFC.
    public init(of tag: NFCTag) async throws {
        switch tag {
        case .miFare(let tag) where tag.mifareFamily == .desfire || tag.mifareFamily == .plus:
            self = try await .type4(tag)
        case .miFare(let tag): self = try await .type2(tag)
        case .iso7816(let tag): self = try await .type4(tag)
        case .feliCa(let tag): self = try await .type3(tag)
        case .iso15693(let tag): self = try await .type5(tag)
        @unknown default: throw RecorderError("This kind of tag has no image.")
        }
    }

    init(_ type: String, _ product: String, uid: Data, _ members: [String: Any], unread: [String] = []) throws {
        var object = members
        object["type"] = type
        object["product"] = product
        object["uid"] = uid.hex
        // OpenCoreNFC keeps unknown members, and removes "note" when the tag's content changes.
        if !unread.isEmpty { object["note"] = unread.joined(separator: " ") }
        json = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
        self.product = product
        self.unread = unread
    }
}

// MARK: Type 2: MIFARE Ultralight and NTAG

extension TagDump {
    static func type2(_ tag: any NFCMiFareTag) async throws -> TagDump {
        func send(_ bytes: UInt8...) async throws -> Data {
            try await tag.sendMiFareCommand(commandPacket: Data(bytes))
        }
        var memory = try await send(0x30, 0)
        guard memory.count == 16 else { throw RecorderError("The tag does not answer READ as a Type 2 tag does.") }
        let start = memory
        var isLost = false
        var wraps = false
        var version: Data?
        // READ (0x30) returns four pages. Past the last page that needs no password, it continues with page 0, which has the
        // UID. So the end is found without a command that the tag refuses. One page alone may equal page 0 by chance, so two
        // or three have to be equal.
        while !wraps, !isLost, memory.count < 256 * 4 {
            // Only products that know GET_VERSION (0x60) have more than 48 pages.
            if memory.count >= 49 * 4, version == nil { version = try await send(0x60) }
            let last = memory.count / 4 - 1
            // An NTAG I2C refuses to read the pages after its user memory.
            if let version, isI2C(version), last >= 225 { break }
            guard let answer = try? await send(0x30, UInt8(last)), answer.count == 16 else {
                isLost = true
                break
            }
            let pages = [UInt8](answer)
            let end = (1...2).first { Data(pages[($0 * 4)...]) == start.prefix(16 - $0 * 4) }
            wraps = end != nil
            let onlyTwo = end == nil && Data(pages[12...]) == start.prefix(4)
            memory += pages[4..<((end ?? (onlyTwo ? 3 : 4)) * 4)]
        }
        if version == nil, !isLost { version = try? await send(0x60) }
        if version?.count != 8 { version = nil }
        guard let product = type2Product(version.map { [UInt8]($0) }, pages: memory.count / 4) else {
            let name = version.map { "answers GET_VERSION with \($0.hex)" } ?? "has \(memory.count / 4) readable pages"
            throw RecorderError("The tag \(name), which is no known product.")
        }
        var members: [String: Any] = [:]
        var unread: [String] = []
        if let version {
            members["get_version"] = version.hex
            if !isLost, let signature = try? await send(0x3C, 0), signature.count == 32 {
                members["signature"] = signature.hex
            }
            // The last two pages are the password and PACK, which read as zeros.
            if product.pages == memory.count / 4, !isI2C(version) { memory.removeLast(8) }
        }
        if memory.count / 4 < product.pages {
            unread = ["Pages from \(memory.count / 4) on can't be read, such as the password or key."]
        }
        members["memory_hex"] = memory.hex
        return try TagDump("T2T", product.name, uid: tag.identifier, members, unread: unread)
    }

    private static func isI2C(_ version: Data) -> Bool { version.count == 8 && [UInt8](version)[3] == 0x05 }

    /// The product by its answer to GET_VERSION: type, subtype, version and size (NXP data sheets of NTAG21x, 8.3.1, and
    /// MF0ULx1, 8.3). Products without this command have different numbers of readable pages.
    private static func type2Product(_ version: [UInt8]?, pages: Int) -> (name: String, pages: Int)? {
        guard let version else {
            return [16: ("MIFARE Ultralight", 16), 42: ("NTAG203", 42), 44: ("MIFARE Ultralight C", 48)][pages]
        }
        // Later products of the same sizes, such as NTAG 223 DNA, have another major version and other pages.
        guard version[4] == 1 || version[3] == 5 else { return nil }
        let isPlus = version[5] >= 0x02
        switch (version[2], version[3], version[6]) {
        case (3, _, 0x0B): return ("MIFARE Ultralight EV1 UL11", 20)
        case (3, _, 0x0E): return ("MIFARE Ultralight EV1 UL21", 41)
        case (4, 5, 0x13): return (isPlus ? "NTAG I2C plus 1K" : "NTAG I2C 1K", 234)
        case (4, 5, 0x15): return isPlus ? ("NTAG I2C plus 2K", 512) : ("NTAG I2C 2K", 490)
        case (4, _, 0x0B): return ("NTAG210", 20)
        case (4, _, 0x0E): return ("NTAG212", 41)
        case (4, _, 0x0F): return ("NTAG213", 45)
        case (4, _, 0x11): return ("NTAG215", 135)
        case (4, _, 0x13): return ("NTAG216", 231)
        default: return nil
        }
    }
}

// MARK: Type 3: FeliCa

extension TagDump {
    static func type3(_ tag: any NFCFeliCaTag) async throws -> TagDump {
        func read(_ blocks: ClosedRange<Int>) async throws -> Data {
            // Service 000B is read without encryption, and its code is sent low byte first. 80 stands for a block number of
            // one byte, 00 for one of two.
            let list = blocks.map { $0 < 256 ? Data([0x80, UInt8($0)]) : Data([0, UInt8($0 & 0xFF), UInt8($0 >> 8)]) }
            let (status, _, data) = try await tag.readWithoutEncryption(
                serviceCodeList: [Data([0x0B, 0x00])],
                blockList: list
            )
            guard status == 0 else { throw RecorderError("The card refuses to read block \(blocks.lowerBound).") }
            return Data(data.joined())
        }
        let (pmm, _) = try await tag.polling(
            systemCode: tag.currentSystemCode,
            requestCode: .noRequest,
            timeSlot: .max1
        )
        var members: [String: Any] = ["pmm": pmm.hex]
        if [UInt8](pmm).dropFirst().first == 0xF1 {
            // FeliCa Lite-S: S_PAD 0 to 13, and the blocks of its configuration (user's manual, 3).
            var memory = Data()
            for first in stride(from: 0, to: 14, by: 4) { memory += try await read(first...min(first + 3, 13)) }
            members["memory_hex"] = memory.hex
            members["register"] = try await read(0x0E...0x0E).hex
            members["id_extension"] = try await read(0x82...0x82).suffix(8).hex
            members["service_code"] = try await read(0x84...0x84).hex
            members["key_version"] = try await read(0x86...0x86).hex
            members["memory_configuration"] = try await read(0x88...0x88).hex
            let device = try await read(0x83...0x83)
            if device != tag.currentIDm + pmm { members["device_id"] = device.hex }
            let counter = [UInt8](try await read(0x90...0x90))
            members["write_counter"] = Int(counter[0]) | Int(counter[1]) << 8 | Int(counter[2]) << 16
            let unread = ["The card key can't be read."]
            return try TagDump("T3T", "FeliCa Lite-S", uid: tag.currentIDm, members, unread: unread)
        }
        // The attribute information block: Nbr at byte 1, Nmaxb at bytes 3 and 4 (NFC Forum T3T 1.0, 6.1).
        var memory = try await read(0...0)
        let attributes = [UInt8](memory)
        let last = Int(attributes[3]) << 8 | Int(attributes[4])
        let step = max(1, min(Int(attributes[1]), 12))
        for first in stride(from: 1, through: last, by: step) {
            memory += try await read(first...min(first + step - 1, last))
        }
        members["memory_hex"] = memory.hex
        let unread = ["Only the NDEF system of the card was read."]
        return try TagDump("T3T", "generic Type 3", uid: tag.currentIDm, members, unread: unread)
    }
}

// MARK: Type 4

extension TagDump {
    static func type4(_ tag: any NFCISO7816Tag) async throws -> TagDump {
        let files = try await ndefFiles { try await tag.sendCommand(apdu: $0) }
        var members: [String: Any] = ["files": files]
        var unread = ["Only the NDEF application of the card was read."]
        if let data = tag.applicationData {
            members["application_data"] = data.hex
            members["protocol_info"] = "008171"
            unread.append("iOS does not reveal the protocol information of the ATQB.")
        } else {
            members["ats"] = answerToSelect(tag.historicalBytes)
            unread.append("iOS reveals only the historical bytes of the ATS.")
        }
        return try TagDump("T4T", "generic Type 4", uid: tag.identifier, members, unread: unread)
    }

    static func type4(_ tag: any NFCMiFareTag) async throws -> TagDump {
        func send(_ apdu: NFCISO7816APDU) async throws -> (Data, UInt8, UInt8) {
            try await tag.sendMiFareISO7816Command(apdu)
        }
        // GET VERSION (90 60) before the first SELECT: a DESFire refuses native commands after it.
        var version = Data()
        var code: UInt8 = 0x60
        for _ in 0..<3 where tag.mifareFamily == .desfire {
            let (data, _, status) = try await send(apdu(0x90, code, 0, 0, expecting: 256))
            version += data
            guard status == 0xAF else { break }
            code = 0xAF
        }
        let files = try await ndefFiles(send)
        let bytes = [UInt8](version)
        let generation =
            bytes.count == 28 && files["e104"] != nil
            ? [0x00: "EV1", 0x01: "EV1", 0x12: "EV2", 0x33: "EV3"][bytes[3]] : nil
        let ats = answerToSelect(tag.historicalBytes, isDESFire: generation != nil)
        var members: [String: Any] = ["files": files, "ats": ats]
        if generation != nil { members["get_version"] = version.hex }
        let product = generation.map { "DESFire \($0)" } ?? "generic Type 4"
        let unread = [
            "Only the NDEF application of the card was read, and no keys.",
            "iOS reveals only the historical bytes of the ATS.",
        ]
        return try TagDump("T4T", product, uid: tag.identifier, members, unread: unread)
    }

    /// An ATS with the card's historical bytes. The other bytes (ISO/IEC 14443-4, 5.2) are those of a DESFire, which has frames of
    /// 64 bytes, or those that most cards have, with frames of 256 bytes.
    static func answerToSelect(_ historicalBytes: Data?, isDESFire: Bool = false) -> String {
        let historical = historicalBytes ?? Data()
        let parameters: [UInt8] = isDESFire ? [0x75, 0x77, 0x81, 0x02] : [0x78, 0x80, 0x70, 0x02]
        return (Data([UInt8(5 + historical.count)] + parameters) + historical).hex
    }

    private static func apdu(
        _ instructionClass: UInt8,
        _ instruction: UInt8,
        _ p1: UInt8,
        _ p2: UInt8,
        _ data: Data = Data(),
        expecting length: Int
    ) -> NFCISO7816APDU {
        NFCISO7816APDU(
            instructionClass: instructionClass,
            instructionCode: instruction,
            p1Parameter: p1,
            p2Parameter: p2,
            data: data,
            expectedResponseLength: length
        )
    }

    /// Reads the capability container and the NDEF file (NFC Forum T4T 1.2, 7.2): hexadecimal, by file identifier.
    private static func ndefFiles(
        _ send: (NFCISO7816APDU) async throws -> (Data, UInt8, UInt8)
    ) async throws -> [String: String] {
        func select(_ p1: UInt8, _ p2: UInt8, _ name: Data) async throws {
            let (_, high, low) = try await send(apdu(0, 0xA4, p1, p2, name, expecting: p1 == 4 ? 256 : -1))
            guard high == 0x90, low == 0 else {
                throw RecorderError("The card has no \(name.hex), as an NDEF card has.")
            }
        }
        func read(_ count: Int, by step: Int) async throws -> Data {
            var content = Data()
            while content.count < count {
                let length = min(step, count - content.count)
                let (high, low) = (UInt8(content.count >> 8), UInt8(content.count & 0xFF))
                let (part, status, _) = try await send(apdu(0, 0xB0, high, low, expecting: length))
                guard status == 0x90, !part.isEmpty else { break }
                content += part
            }
            return content
        }
        try await select(4, 0, Data([0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]))
        try await select(0, 0x0C, Data([0xE1, 0x03]))
        let head = [UInt8](try await read(15, by: 15))
        guard head.count == 15, head[7] == 0x04 else { throw RecorderError("The capability container is not valid.") }
        let step = max(1, min(Int(head[3]) << 8 | Int(head[4]), 250))
        let container = try await read(Int(head[0]) << 8 | Int(head[1]), by: step)
        let identifier = Data(head[9...10])
        try await select(0, 0x0C, identifier)
        let message = try await read(Int(head[11]) << 8 | Int(head[12]), by: step)
        return ["e103": container.hex, identifier.hex: message.hex]
    }
}

// MARK: Type 5: ISO/IEC 15693

extension TagDump {
    static func type5(_ tag: any NFCISO15693Tag) async throws -> TagDump {
        let info = try await tag.systemInfo(requestFlags: [.highDataRate])
        guard info.totalBlocks > 0, info.blockSize > 0 else {
            throw RecorderError("The tag does not report the size of its memory.")
        }
        let uid = tag.identifier.first == 0xE0 ? tag.identifier : Data(tag.identifier.reversed())
        var memory = Data()
        for first in stride(from: 0, to: info.totalBlocks, by: 16) {
            let range = NSRange(location: first, length: min(16, info.totalBlocks - first))
            memory += Data(
                try await info.totalBlocks > 256
                    ? tag.extendedReadMultipleBlocks(requestFlags: [.highDataRate], blockRange: range).joined()
                    : tag.readMultipleBlocks(requestFlags: [.highDataRate], blockRange: range).joined()
            )
        }
        var members: [String: Any] = ["block_size": info.blockSize]
        if (0...255).contains(info.dataStorageFormatIdentifier) {
            members["dsfid"] = Data([UInt8(info.dataStorageFormatIdentifier)]).hex
        }
        if (0...255).contains(info.applicationFamilyIdentifier) {
            members["afi"] = Data([UInt8(info.applicationFamilyIdentifier)]).hex
        }
        let product = type5Product([UInt8](uid), blocks: info.totalBlocks)
        if product == "generic Type 5", (0...255).contains(info.icReference) {
            members["ic_reference"] = Data([UInt8(info.icReference)]).hex
        }
        // The last block of an ICODE SLIX2 is its counter, low byte first.
        if product == "ICODE SLIX2", memory.count == info.totalBlocks * info.blockSize {
            let counter = [UInt8](memory.suffix(4))
            members["counter"] = Int(counter[0]) | Int(counter[1]) << 8
            members["counter_protected"] = counter[3] & 1 != 0
            memory.removeLast(4)
        }
        members["memory_hex"] = memory.hex
        members["blocks"] = memory.count / info.blockSize
        // Last, because iOS drops a tag that refuses a command.
        let blocks = NSRange(location: 0, length: min(memory.count / info.blockSize, 64))
        let flags: NFCISO15693RequestFlag = [.highDataRate]
        let status = try? await tag.getMultipleBlockSecurityStatus(requestFlags: flags, blockRange: blocks)
        let locked = (status ?? []).indices.filter { (status?[$0].intValue ?? 0) & 1 != 0 }
        if !locked.isEmpty { members["locked_blocks"] = locked }
        let unread = ["Passwords and settings can't be read" + (status == nil ? ", nor which blocks are locked." : ".")]
        return try TagDump("T5T", product, uid: uid, members, unread: unread)
    }

    /// The product by manufacturer, product code and number of blocks (data sheets of NXP's ICODE and of ST's ST25).
    private static func type5Product(_ uid: [UInt8], blocks: Int) -> String {
        guard uid.count == 8 else { return "generic Type 5" }
        switch (uid[1], uid[2], blocks) {
        case (0x04, 0x01, 28) where uid[3] & 0x18 == 0x10: return "ICODE SLIX"
        case (0x04, 0x01, 80) where uid[3] & 0x18 == 0x08: return "ICODE SLIX2"
        case (0x04, 0x02, 40) where uid[3] & 0x10 != 0: return "ICODE SLIX-S"
        case (0x04, 0x03, 8) where uid[3] & 0x10 != 0: return "ICODE SLIX-L"
        case (0x02, 0x23, 16): return "ST25TV512"
        case (0x02, 0x23, 64): return "ST25TV02K"
        case (0x02, 0x24...0x25, 128): return "ST25DV04K"
        case (0x02, 0x26...0x27, 512): return "ST25DV16K"
        case (0x02, 0x26...0x27, 2048): return "ST25DV64K"
        default: return "generic Type 5"
        }
    }
}

/// Why a tag could not be recorded.
public struct RecorderError: LocalizedError {
    /// The reason, as a sentence for people.
    public let reason: String

    init(_ reason: String) { self.reason = reason }

    public var errorDescription: String? { reason }
}

extension Data {
    var hex: String { map { String(format: "%02x", $0) }.joined() }
}
