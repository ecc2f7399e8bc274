// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A command of ISO/IEC 7816-4: a header of four bytes, optional data, and the expected length of the answer.
///
/// The short form is sent when it can hold the data (255 bytes) and the expected length (256). Otherwise the extended
/// form is sent.
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
    ///     `00`, 65 536 for the extended form `0000`. 0 counts as `00`.
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
            + "Data=\((data ?? Data()).hex), Le=\(expectedResponseLength)"
    }

    private func hex(_ byte: UInt8) -> String { Data([byte]).hex }
}
