// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A command of a Type 2 tag (NFC Forum T2T 1.2, 5; NTAG213/215/216 data sheet, 10). Pages are numbered across sectors.
enum Type2Command {
    case read(Int)
    case fastRead(first: Int, last: Int)
    case write(Int, [UInt8])
    case getVersion
    case readSignature
    case readCounter(UInt8)
    case checkTearing(UInt8)
    case sectorSelect
    case passwordAuthenticate([UInt8])
    /// The first part of the authentication by a key, with the length of its cipher's blocks, and the second with the
    /// reader's proof.
    case authenticate(blockLength: Int)
    case proveKey([UInt8])

    /// How long to wait for the start of the answer. The specification's limit is 5 ms for a read and 10 ms for a write
    /// (NFC Forum Digital 2.3, 9.9). A write gets twice that, because giving up a write costs more than waiting.
    var timeout: Airtime { if case .write = self { .milliseconds(20) } else { .milliseconds(5) } }

    /// The frame, in which the page number counts from the start of its sector.
    var frame: Frame {
        switch self {
        case .read(let page): Frame([0x30, UInt8(page & 0xFF)])
        case .fastRead(let first, let last): Frame([0x3A, UInt8(first & 0xFF), UInt8(last & 0xFF)])
        case .write(let page, let bytes): Frame([0xA2, UInt8(page & 0xFF)] + bytes)
        case .getVersion: Frame([0x60])
        case .readSignature: Frame([0x3C, 0x00])
        case .readCounter(let number): Frame([0x39, number])
        case .checkTearing(let number): Frame([0x3E, number])
        case .sectorSelect: Frame([0xC2, 0xFF])
        case .passwordAuthenticate(let password): Frame([0x1B] + password)
        case .authenticate: Frame([0x1A, 0x00])
        case .proveKey(let proof): Frame([0xAF] + proof)
        }
    }

    /// The sector that must be selected; nil when any sector will do.
    var sector: Int? {
        switch self {
        case .read(let page), .fastRead(let page, _), .write(let page, _): page / Type2Tag.sectorSize
        default: nil
        }
    }

    /// The number of bytes in the answer; 0 when it is only an ACK.
    var answerLength: Int {
        switch self {
        case .read: 16
        case .fastRead(let first, let last): (last - first + 1) * Type2Tag.pageSize
        case .getVersion: 8
        case .readSignature: 32
        case .readCounter: 3
        case .checkTearing: 1
        case .write, .sectorSelect: 0
        case .passwordAuthenticate: 2
        case .authenticate(let length): 1 + length
        case .proveKey(let proof): 1 + proof.count / 2
        }
    }

    /// The command's name, as written in a sentence, and its specification.
    var reference: (name: String, rule: String) {
        let sheet = "NTAG213/215/216 data sheet, 10"
        return switch self {
        case .read(let page): ("READ of page \(page)", "NFC Forum T2T 1.2, 5.2")
        case .fastRead(let first, let last): ("FAST_READ of pages \(first) to \(last)", "\(sheet).3")
        case .write(let page, _): ("WRITE of page \(page)", "NFC Forum T2T 1.2, 5.3")
        case .getVersion: ("GET_VERSION", "\(sheet).1")
        case .readSignature: ("READ_SIG", "\(sheet).8")
        case .readCounter(let number): ("READ_CNT of counter \(number)", "\(sheet).6")
        case .checkTearing(let number): ("CHECK_TEARING_EVENT of counter \(number)", "MF0ULx1 data sheet")
        case .sectorSelect: ("SECTOR SELECT", "NFC Forum T2T 1.2, 5.4")
        case .passwordAuthenticate: ("PWD_AUTH", "\(sheet).7")
        case .authenticate, .proveKey: ("AUTHENTICATE", "MF0ICU2 data sheet, 7.5.5")
        }
    }

    func cost(_ timing: FrameTiming) -> Airtime {
        let answer =
            answerLength == 0
            ? Frame(bits: [Type2Tag.acknowledge], validBitsInLastByte: 4)
            : Frame([UInt8](repeating: 0, count: answerLength))
        return timing.request(frame) + timing.answerDelay + timing.response(answer) + timing.nextRequestDelay
    }
}

/// The capability container of a Type 2 tag: page 3 (NFC Forum T2T 1.2, 4.5).
struct Type2CapabilityContainer: Equatable {
    static let magicNumber: UInt8 = 0xE1
    /// The low half of the access byte when writing is not allowed.
    static let noWriteAccess: UInt8 = 0x0F

    /// The four bytes, as stored on the tag.
    let bytes: [UInt8]

    /// Reads and checks the four bytes of page 3.
    init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count == 4, bytes[0] == Self.magicNumber else {
            throw TagError(
                .noCapabilityContainer,
                "The tag is not formatted for NDEF: its page 3 does not begin with E1 (NFC Forum T2T 1.2, 4.5)."
            )
        }
        guard bytes[1] >> 4 == 1 else { throw .badVersion(bytes[1] >> 4, bytes[1] & 0x0F, "T2T 1.2, 4.5") }
        guard bytes[3] >> 4 == 0 else {
            let reason = "The tag's capability container does not grant free reading (NFC Forum T2T 1.2, 4.5)."
            throw TagError(.readProtected, reason)
        }
        self.bytes = bytes
    }

    /// The third byte: the size of the data area in units of 8 bytes.
    var sizeByte: UInt8 { bytes[2] }

    /// Whether writing is unrestricted. Proprietary conditions (8 to E) count as not writable.
    var isWritable: Bool { bytes[3] & 0x0F == 0 }

    /// The bytes of the data area.
    var area: Range<Int> { Type2Tag.dataAreaStart..<Type2Tag.dataAreaStart + Int(sizeByte) * 8 }

    /// The page just past the data area.
    var endPage: Int { area.upperBound / Type2Tag.pageSize }
}
