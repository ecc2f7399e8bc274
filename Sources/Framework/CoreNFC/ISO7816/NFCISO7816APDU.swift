// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TagLink

/// An ISO/IEC 7816-4 command: a header of four bytes, optional data, and the expected length of the answer.
///
/// The short form is used for up to 255 bytes of data and an expected length of up to 256; otherwise the extended form.
public final class NFCISO7816APDU: NSObject, NSCopying {
    /// The class (CLA).
    public let instructionClass: UInt8

    /// The instruction (INS).
    public let instructionCode: UInt8

    /// The first parameter (P1).
    public let p1Parameter: UInt8

    /// The second parameter (P2).
    public let p2Parameter: UInt8

    /// The data; nil for none.
    public let data: Data?

    /// The maximum number of data bytes in the answer (Le): -1 for none, and at most 65 536.
    public let expectedResponseLength: Int

    /// Creates a command.
    ///
    /// - Parameters:
    ///   - instructionClass: the class (CLA).
    ///   - instructionCode: the instruction (INS).
    ///   - p1Parameter: the first parameter (P1).
    ///   - p2Parameter: the second parameter (P2).
    ///   - data: the data, at most 65 535 bytes; empty for none. A command with longer data fails when it is sent.
    ///   - expectedResponseLength: the expected length of the answer's data (Le): -1 for none, 256 for the short form
    ///     `00`, 65 536 for the extended form `0000`. A value of 0 is sent as `00`.
    public init(
        instructionClass: UInt8,
        instructionCode: UInt8,
        p1Parameter: UInt8,
        p2Parameter: UInt8,
        data: Data,
        expectedResponseLength: Int
    ) {
        self.instructionClass = instructionClass
        self.instructionCode = instructionCode
        self.p1Parameter = p1Parameter
        self.p2Parameter = p2Parameter
        self.data = data.isEmpty ? nil : Data(data)
        self.expectedResponseLength = expectedResponseLength
    }

    /// Parses a command, short or extended (ISO/IEC 7816-4, 5.2).
    ///
    /// - Parameter data: the bytes of one whole command.
    /// - Returns: nil when the lengths in the command do not match the number of bytes.
    public convenience init?(data: Data) {
        let bytes = [UInt8](data)
        guard let body = APDUBody(parsing: bytes) else { return nil }
        self.init(
            instructionClass: bytes[0],
            instructionCode: bytes[1],
            p1Parameter: bytes[2],
            p2Parameter: bytes[3],
            data: Data(bytes[body.data]),
            expectedResponseLength: body.expectedLength
        )
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String {
        "CLA=\(hex(instructionClass)), INS=\(hex(instructionCode)), P1=\(hex(p1Parameter)), P2=\(hex(p2Parameter)), "
            + "Data=\((data ?? Data()).hexText()), Le=\(expectedResponseLength)"
    }

    private func hex(_ byte: UInt8) -> String { Data([byte]).hexText() }
}

/// The answer to an ISO/IEC 7816-4 command, exactly as the card sent it.
///
/// If the status word asks for another command (61xx or 6Cxx), the app has to send that command.
public struct NFCISO7816ResponseAPDU {
    /// The first byte of the status word (SW1).
    public var statusWord1: UInt8

    /// The second byte of the status word (SW2).
    public var statusWord2: UInt8

    /// The data before the status word. For an answer without data, an async call returns nil, as on a phone, and a
    /// result handler gets empty data.
    public var payload: Data?

    /// Creates an answer, for example for your own card class. Each argument sets the property of the same name.
    public init(statusWord1: UInt8, statusWord2: UInt8, payload: Data?) {
        self.statusWord1 = statusWord1
        self.statusWord2 = statusWord2
        self.payload = payload
    }

    /// Creates an answer.
    @available(*, deprecated, renamed: "init(statusWord1:statusWord2:payload:)")
    public init(statusWord1: UInt8, statusWord2: UInt8, paylaod payload: Data?) {
        self.init(statusWord1: statusWord1, statusWord2: statusWord2, payload: payload)
    }

    init(parsing bytes: [UInt8]) throws {
        guard bytes.count >= 2 else { throw NFCReaderError.unexpectedLength("The card's answer has no status word.") }
        self.init(
            statusWord1: bytes[bytes.count - 2],
            statusWord2: bytes[bytes.count - 1],
            payload: Data(bytes.dropLast(2))
        )
    }
}

extension NFCISO7816APDU {
    /// The command's bytes, in the short form if it is sufficient.
    package func encoded() throws -> [UInt8] {
        let data = data ?? Data()
        guard data.count <= 65_535 else {
            throw NFCReaderError(
                .readerErrorInvalidParameterLength,
                reason: "An APDU has at most 65535 bytes of data."
            )
        }
        guard (-1...65_536).contains(expectedResponseLength) else {
            throw NFCReaderError(
                .readerErrorParameterOutOfBound,
                reason: "expectedResponseLength must be -1, or from 1 to 65536."
            )
        }
        var bytes = [instructionClass, instructionCode, p1Parameter, p2Parameter]
        bytes.reserveCapacity(data.count + 9)
        // 0 is treated as 256. Both are encoded as the byte 00.
        let expected = expectedResponseLength == 0 ? 256 : expectedResponseLength
        let isExtended = data.count > 255 || expected > 256
        func append(_ length: Int) {
            if isExtended { bytes.append(UInt8(truncatingIfNeeded: length >> 8)) }
            bytes.append(UInt8(truncatingIfNeeded: length))
        }
        if isExtended { bytes.append(0) }
        if !data.isEmpty {
            append(data.count)
            bytes += data
        }
        if expected >= 0 { append(expected) }
        return bytes
    }
}
