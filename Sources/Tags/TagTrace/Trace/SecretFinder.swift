// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// Finds passwords, PINs and keys that are sent unencrypted, so that traces don't show them and recordings don't store
/// them.
///
/// It knows the passwords and keys of Type 2 tags, the card key of FeliCa Lite-S, the passwords of ICODE, ST25TV and
/// ST25DV, the PINs of ISO/IEC 7816-4 (with or without ISO-DEP), new keys of DESFire, MIFARE Plus and NTAG 424 DNA, the
/// secrets of OATH accounts, and MIFARE Classic keys that are loaded into a reader.
/// Which pages of a Type 2 tag contain the password depends on the product, as shown by its answer to GET VERSION, the
/// size in its capability container or a 3DES authentication. For an unknown product, the password pages of every
/// product count. The meaning of a frame depends on the frames before it, so pass every frame in order.
package struct SecretFinder: Sendable, Hashable {
    private var pages = anyPages
    /// Whether the product is known from its answer to GET VERSION.
    private var hasVersion = false
    /// The page of the last READ or FAST READ.
    private var firstPageRead = 0
    /// The start of a command that continues in the next block and is too short to be understood.
    private var head: [UInt8] = []
    /// Whether frames of NFC-A and NFC-B contain ISO-DEP blocks.
    private var isISODEP = false
    /// Whether the next block continues a command with a secret.
    private var continuesSecret = false
    /// The page of a COMPATIBILITY WRITE whose data follow.
    private var page: Int?
    /// Whether a MIFARE Classic was asked for a nonce since the last activation. The reader's answer gives the key away.
    private var isClassic = false
    /// The first byte of the last frame of NFC-A; nil when the last request was not an NFC-A frame.
    private var lastCommand: UInt8?
    /// Whether the last request was a command for the chip inside the reader.
    private var isForChip = false

    package init() {}

    /// Forgets all previous frames. Call it when the field was turned off or on, or another tag may be near.
    package mutating func fieldChanged() { self = SecretFinder() }

    /// Handles a request as it is sent, perhaps with a checksum that its host has added, and returns the ranges of its
    /// secret bytes, in order.
    package mutating func secrets(in request: Frame, over medium: Trace.Medium) -> [Range<Int>] {
        let bare = request.withoutChecksum(over: medium).bytes
        var ranges = secrets(in: bare, over: medium)
        // The checksum tells about a secret before it.
        if let last = ranges.popLast() {
            ranges.append(last.lowerBound..<(last.upperBound == bare.count ? request.bytes.count : last.upperBound))
        }
        return ranges
    }

    /// Handles a request, and returns the ranges of its secret bytes, in order.
    package mutating func secrets(in request: [UInt8], over medium: Trace.Medium) -> [Range<Int>] {
        (lastCommand, isForChip) = (nil, false)
        let ranges: [Range<Int>]
        switch medium {
        case .commands: ranges = command(request[...])
        case .frames(.nfcA): ranges = nfcA(request)
        case .frames(.nfcB):
            if request.first == 0x1D { (isISODEP, continuesSecret, head) = (true, false, []) }
            ranges = isISODEP ? block(request) : []
        case .frames(.nfcF): ranges = Self.felica(request)
        case .frames(.nfcV): ranges = Self.nfcV(request)
        }
        return ranges.map { $0.clamped(to: 0..<request.count) }.filter { !$0.isEmpty }
    }

    /// Handles the answer to the last request, and returns the ranges of its secret bytes. A tag sends such bytes only
    /// to a reader that knows the password.
    package mutating func secrets(inAnswer answer: [UInt8]) -> [Range<Int>] {
        // D5, a code and the chip's status precede the tag's answer, and the reader's status word follows it.
        guard isForChip, answer.count >= 5, answer[0] == 0xD5 else { return secrets(inTagAnswer: answer) }
        return secrets(inTagAnswer: Array(answer[3..<answer.count - 2])).map { $0.lowerBound + 3..<$0.upperBound + 3 }
    }

    private mutating func secrets(inTagAnswer answer: [UInt8]) -> [Range<Int>] {
        switch (lastCommand, answer.count) {
        case (0x60, 8), (0x60, 10): (pages, hasVersion) = (Self.pages(ofVersion: answer), true)
        case (0x30, 16...), (0x3A, 4...):
            let container = (3 - firstPageRead) * 4
            if !hasVersion, container >= 0, answer.count >= container + 4, answer[container] == 0xE1 {
                pages = Self.pages(ofSize: answer[container + 2])
            }
        case (0x1A, 9), (0x1A, 11):
            // The keys of MIFARE Ultralight C (data sheet, 7.5.8).
            if answer[0] == 0xAF, !hasVersion { pages = [0x2C..<0x30] }
        case (0x1B, 2), (0x1B, 4): return [0..<answer.count]
        default: break
        }
        return []
    }

    // MARK: NFC-A

    private mutating func nfcA(_ bytes: [UInt8]) -> [Range<Int>] {
        if let page {
            self.page = nil
            if bytes.count == 16 { return isSecret(page) ? [0..<16] : [] }
        }
        lastCommand = bytes.first
        // REQA, WUPA and HLTA end ISO-DEP. The pages are kept, because the tag is usually still the same.
        if bytes == [0x26] || bytes == [0x52] || bytes == [0x50, 0x00] {
            (isISODEP, isClassic, continuesSecret, head) = (false, false, false, [])
        }
        // RATS starts ISO-DEP again, even if the reader woke the tag by itself.
        if bytes.count == 2, bytes[0] == 0xE0 { (isISODEP, continuesSecret, head) = (true, false, []) }
        if isISODEP { return block(bytes) }
        // The reader's proof, and a block that may have keys: the cipher gives both away to one who knows other blocks.
        if isClassic, bytes.count == 8 || bytes.count == 18 { return [0..<bytes.count] }
        switch (bytes.first, bytes.count) {
        case (0x60, 2), (0x61, 2): isClassic = true
        // The form of a reader that has the cipher of MIFARE Classic.
        case (0x60, 12), (0x61, 12): return [2..<8]
        case (0xA0, 18) where bytes[1] % 4 == 3: return [2..<8, 12..<18]
        case (0x1B, 5): return [1..<5]
        case (0xA2, 6) where isSecret(Int(bytes[1])): return [2..<6]
        case (0xA0, 2): page = Int(bytes[1])
        case (0x30, 2), (0x3A, 3): firstPageRead = Int(bytes[1])
        default: break
        }
        return []
    }

    private func isSecret(_ page: Int) -> Bool { pages.contains { $0.contains(page) } }

    /// The pages of PWD and PACK, or of the keys, of every product (data sheets of NTAG and MIFARE Ultralight).
    private static let anyPages: [Range<Int>] = [
        0x12..<0x14, 0x27..<0x29, 0x2B..<0x38, 0x40..<0x48, 0x85..<0x87, 0xE5..<0xE7,
    ]

    /// Returns the pages of PWD and PACK, or of the AES keys, depending on the product's size.
    private static func pages(ofVersion version: [UInt8]) -> [Range<Int>] {
        guard version[1] == 0x04 else { return [] }
        switch (version[2], version[6]) {
        case (_, 0x0B): return [0x12..<0x14]
        case (_, 0x0E): return [0x27..<0x29]
        // MIFARE Ultralight AES.
        case (0x03, 0x0F): return [0x30..<0x38]
        // NTAG213, with the keys of NTAG 223 DNA.
        case (0x04, 0x0F): return [0x2B..<0x2D] + (version[4] == 0x04 ? [0x34..<0x38] : [])
        case (0x04, 0x10): return [0x40..<0x48]
        case (0x04, 0x11): return [0x85..<0x87]
        case (0x04, 0x13), (0x04, 0x15): return [0xE5..<0xE7]
        default: return []
        }
    }

    /// Returns these pages of all products whose capability container has this size, in units of 8 bytes. A size that no
    /// product has says nothing.
    private static func pages(ofSize size: UInt8) -> [Range<Int>] {
        switch size {
        case 0x06: [0x12..<0x14]
        case 0x10: [0x27..<0x29]
        // NTAG213, NTAG 223 DNA, Ultralight C and Ultralight AES.
        case 0x12: [0x2B..<0x38]
        case 0x1A: [0x40..<0x48]
        case 0x3E, 0x3F: [0x85..<0x87]
        case 0x6D: [0xE5..<0xE7]
        default: anyPages
        }
    }

    /// Handles a block of ISO-DEP with a command or part of one (ISO/IEC 14443-4, 7.1).
    private mutating func block(_ bytes: [UInt8]) -> [Range<Int>] {
        guard let control = bytes.first, control & 0xE2 == 0x02 else { return [] }
        let start = min(1 + (control & 0x08 != 0 ? 1 : 0) + (control & 0x04 != 0 ? 1 : 0), bytes.count)
        let (isChained, before) = (control & 0x10 != 0, head)
        head = isChained && !continuesSecret && before.count + bytes.count - start < 7 ? before + bytes[start...] : []
        let ranges = continuesSecret ? [start..<bytes.count] : secrets(ofCommand: bytes, from: start, after: before)
        continuesSecret = isChained && !ranges.isEmpty
        return ranges
    }

    /// Returns the secrets in a command's bytes in this block. The bytes before were in earlier blocks.
    private mutating func secrets(ofCommand bytes: [UInt8], from start: Int, after before: [UInt8]) -> [Range<Int>] {
        let moved = start - before.count
        let continued = before.isEmpty ? [] : command((before + bytes[start...])[...])
        // The block may also begin a command, because the card was woken in between.
        guard !continued.isEmpty else { return command(bytes[start...]) }
        return continued.map { max($0.lowerBound + moved, start)..<max($0.upperBound + moved, start) }
    }

    // MARK: Commands

    private mutating func command(_ bytes: ArraySlice<UInt8>) -> [Range<Int>] {
        guard bytes.count >= 5 else { return [] }
        let start = bytes.startIndex
        let (cla, ins) = (bytes[start], bytes[start + 1])
        let isExtended = bytes[start + 4] == 0 && bytes.count > 7
        let data = start + (isExtended ? 7 : 5)
        // Le, after the data, is concealed too, because the length may be wrong.
        if cla == 0xFF { return reader(bytes, data) }
        // CHANGE KEY of DESFire and NTAG 424 DNA. The factory key, which everybody knows, can decrypt it.
        if cla == 0x90, ins == 0xC4 { return data + 1 < bytes.endIndex ? [data + 1..<bytes.endIndex] : [] }
        // A key that a MIFARE Plus gets, which that key's factory value can decrypt; plain in personalisation.
        if cla & 0xFC == 0xA0 && bytes.count == 27 || cla == 0xA8 && bytes.count == 19, bytes[start + 2] >= 0x40 {
            return [start + 3..<bytes.endIndex]
        }
        // Native DESFire commands have the same codes. With secure messaging, no PIN is sent unencrypted.
        guard cla & 0x8C == 0 || cla == 0x80, bytes[start + 2] == 0 || ins != 0x20 else { return [] }
        switch ins {
        // VERIFY, CHANGE REFERENCE DATA, RESET RETRY COUNTER (ISO/IEC 7816-4, 11.6).
        case 0x20, 0x21, 0x24, 0x25, 0x2C, 0x2D: return [data..<bytes.endIndex]
        // PUT and SET CODE of OATH, also in parts: an account's secret, or the key of a password.
        case 0x01, 0x03: return [data..<bytes.endIndex]
        // IMPORT and SET MANAGEMENT KEY of PIV on a hardware key.
        case 0xFE, 0xFF: return [data..<bytes.endIndex]
        default: return []
        }
    }

    /// Handles a command for the reader itself (PC/SC 2.01 part 3, 3.2.2).
    private mutating func reader(_ bytes: ArraySlice<UInt8>, _ data: Int) -> [Range<Int>] {
        let start = bytes.startIndex
        switch bytes[start + 1] {
        // LOAD KEY and VERIFY.
        case 0x82, 0x20: return [data..<bytes.endIndex]
        // A page of 4 bytes, unless the product is known: MIFARE Classic has blocks of 16 bytes with these numbers.
        case 0xD6 where isSecret(Int(bytes[start + 3])) && (hasVersion || bytes[start + 4] == 4):
            return [data..<bytes.endIndex]
        // A block with a sector's keys and access bits. Only MIFARE Classic has blocks of 16 bytes.
        case 0xD6 where bytes[start + 4] == 16 && bytes[start + 3] % 4 == 3:
            return [data..<data + 6, data + 10..<data + 16]
        // A frame in a transparent session (data object 95), or in Identiv's Traverse.
        case 0xC2, 0x50, 0xFD:
            let object = bytes[data...].indices.dropLast(2).first { index in
                bytes[index] == 0x95 && [2, 3].contains(bytes.endIndex - index - Int(bytes[index + 1]))
            }
            guard let head = bytes[start + 1] == 0xFD ? data : object.map({ $0 + 2 }) else { return [] }
            let end = min(bytes.endIndex, head + Int(bytes[head - 1]))
            return anyFrame(Array(bytes[head..<end])).map { $0.lowerBound + head..<$0.upperBound + head }
        case 0x00: return chip(Array(bytes), from: data - start).map { $0.lowerBound + start..<$0.upperBound + start }
        default: return []
        }
    }

    /// Handles a command for the PN53x in a reader (PN532 user manual, 7.3). `index` is the position of D4.
    private mutating func chip(_ bytes: [UInt8], from index: Int) -> [Range<Int>] {
        guard bytes.count > index + 1, bytes[index] == 0xD4 else { return [] }
        isForChip = true
        return secrets(inChipCommand: bytes, from: index + 1)
    }

    /// Handles a command for a PN53x. `index` is the position of the command's code.
    package mutating func secrets(inChipCommand bytes: [UInt8], from index: Int = 0) -> [Range<Int>] {
        lastCommand = nil
        guard bytes.count > index else { return [] }
        let start: Int
        switch bytes[index] {
        case 0x40: start = index + 2
        case 0x42: start = index + 1
        default: return []
        }
        guard bytes.count > start else { return [] }
        let frame = Array(bytes[start...])
        // A MIFARE Classic authentication, which the chip executes, contains block, key and UID.
        if bytes[index] == 0x40, frame[0] & 0xFE == 0x60, frame.count >= 12 { return [start + 2..<start + 8] }
        // The chip handles ISO-DEP itself, so a card command may follow directly.
        let ranges = frame.count > 5 && frame[0] != 0xA2 ? command(frame[...]) : []
        return (ranges.isEmpty ? anyFrame(frame) : ranges).map { $0.lowerBound + start..<$0.upperBound + start }
    }

    /// Returns the secrets in a frame of a technology that is not known.
    private mutating func anyFrame(_ bytes: [UInt8]) -> [Range<Int>] {
        if bytes.count == 5, bytes[0] == 0x1B { return nfcA(bytes) }
        let ranges = Self.nfcV(bytes) + Self.felica(bytes)
        return ranges.isEmpty ? nfcA(bytes) : ranges
    }

    // MARK: NFC-F and NFC-V

    /// Returns the range of the card key, block 87, in WRITE WITHOUT ENCRYPTION (FeliCa Lite-S user's manual, 3.3).
    private static func felica(_ bytes: [UInt8]) -> [Range<Int>] {
        guard bytes.count > 11, bytes[1] == 0x08 else { return [] }
        guard let list = FeliCaBlockList(bytes.dropFirst(10)) else { return [] }
        let start = bytes.count - list.data.count
        return list.elements.enumerated().filter { $0.element.block == 0x87 }.map {
            start + 16 * $0.offset..<start + 16 * $0.offset + 16
        }
    }

    /// Returns the range of a password in the custom commands of NXP (04) and ST (02), after flags, code, manufacturer
    /// and UID.
    private static func nfcV(_ bytes: [UInt8]) -> [Range<Int>] {
        guard bytes.count > 3 else { return [] }
        let start = bytes[0] & 0x24 == 0x20 ? 11 : 3
        switch (bytes[2], bytes[1]) {
        // Parameters start with a number in NXP's SET PASSWORD and WRITE PASSWORD and in ST's WRITE PASSWORD, PRESENT
        // PASSWORD, KILL and UNTRACEABLE, but not in NXP's DESTROY and ENABLE PRIVACY.
        case (0x04, 0xB3), (0x04, 0xB4), (0x02, 0xB1), (0x02, 0xB3), (0x02, 0xA6), (0x02, 0xBA),
            // WRITE CONFIGURATION of an ICODE DNA, whose keys are there.
            (0x04, 0xC1):
            return [min(start + 1, bytes.count)..<bytes.count]
        case (0x04, 0xB9), (0x04, 0xBA): return [min(start, bytes.count)..<bytes.count]
        default: return []
        }
    }
}
